from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tuner.logs.fields import fields

VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers(), max_size=4))
RECORDS = st.dictionaries(st.from_regex(r"[a-z][a-z_]{2,12}[0-9]", fullmatch=True), VALUES, min_size=1, max_size=5)


@given(RECORDS)
def test_a_dictionary_and_a_call_read_alike(record: dict[str, object]) -> None:
    call = f"ServerArgs({', '.join(f'{name}={value!r}' for name, value in record.items())})"
    assert fields(call) == fields(repr(record))
    if not any(isinstance(value, str) and "<" in value for value in record.values()):
        assert fields(call) == record


def test_nested_records_enums_and_objects_are_read() -> None:
    text = "A(a=B(b=[1, 2]), mode=<CUDAGraphMode.FULL: 2>, hook=<function f at 0x7f>, dtype=torch.bfloat16, n=None)"
    assert fields(text) == {"a": {"b": [1, 2]}, "mode": "FULL", "hook": None, "dtype": "torch.bfloat16", "n": None}


def test_fields_without_a_record_around_them_are_read() -> None:
    assert fields("model='x', enforce_eager=False, config={'sizes': [1]}") == {
        "model": "x",
        "enforce_eager": False,
        "config": {"sizes": [1]},
    }


def test_what_stands_in_a_cut_record_is_read() -> None:
    cut = "{'attention_backend': 'fa3', 'page_size': 64, 'mm_attention_backend': None, 'decode_attention_backend': 'tri"
    assert fields(cut) == {"attention_backend": "fa3", "page_size": 64, "mm_attention_backend": None}
