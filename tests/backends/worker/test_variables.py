from __future__ import annotations

from backends.worker.variables import kernel_variables


def test_variables_that_change_kernels_are_kept_sorted() -> None:
    environ = {
        "TRITON_INTERPRET": "1",
        "SGLANG_FLASHINFER_USE_PAGED": "true",
        "NVIDIA_TF32_OVERRIDE": "0",
        "SGLANG_LOG_MS": "1",
        "LANG": "C",
    }
    kept = (("NVIDIA_TF32_OVERRIDE", "0"), ("SGLANG_FLASHINFER_USE_PAGED", "true"), ("TRITON_INTERPRET", "1"))
    assert kernel_variables(environ, "cuda") == kept


def test_places_logs_and_device_choice_are_left_out() -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "1", "FLASHINFER_WORKSPACE_BASE": "/x", "TRITON_CACHE_DIR": "/y", "CUDA_HOME": "/usr/local/cuda"}
    assert kernel_variables(environ, "cuda") == ()


def test_threads_count_on_a_processor_only() -> None:
    environ = {"OMP_NUM_THREADS": "2"}
    assert kernel_variables(environ, "cpu") == (("OMP_NUM_THREADS", "2"),)
    assert kernel_variables(environ, "cuda") == ()


def test_no_absolute_path_shows() -> None:
    environ = {"LD_PRELOAD": "/home/anna/libjemalloc.so", "TRITON_PTXAS_PATH": "~/ptxas", "CUTE_DSL_ARCH": "sm_90a"}
    kept = (("CUTE_DSL_ARCH", "sm_90a"), ("LD_PRELOAD", "<path>"), ("TRITON_PTXAS_PATH", "<path>"))
    assert kernel_variables(environ, "cuda") == kept
