"use strict";
// What the page can do beyond being read: copy a line, and unfold everything for paper.
const told = document.getElementById("told");

async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    return navigator.clipboard.writeText(text);
  }
  const held = document.createElement("textarea"); // a page that came over plain HTTP has no clipboard
  held.value = text;
  document.body.append(held);
  held.select();
  const done = document.execCommand("copy");
  held.remove();
  if (!done) throw new Error("refused");
}

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    let said = "Copied";
    try {
      await copy(button.parentElement.querySelector("code").textContent);
    } catch {
      said = "Select it and copy by hand";
    }
    button.textContent = said;
    told.textContent = said;
    setTimeout(() => {
      button.textContent = "Copy";
      told.textContent = "";
    }, 2000);
  });
}

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
});
