// The script of the editor of templates: it asks for the previews of modes with a text, and moves the cursor to the place of an error. htmx asks
// for the preview while somebody types.
const form = document.getElementById("text-form");

function ask(mode) {
  if (mode.dataset.asked) return;
  mode.dataset.asked = "true";
  if ([...mode.querySelectorAll("textarea")].some((area) => area.value)) window.htmx.trigger(mode, "open-mode");
}

function showButtons(root) {
  for (const button of root.querySelectorAll("[data-go]")) button.hidden = false;
  for (const button of root.querySelectorAll("[data-frame]:not([hidden])")) {
    button.hidden = true; // without this script, people press it
    button.click();
  }
}

// go selects the place of an error in its text.
function go({ go: field, line, column }) {
  const area = form.elements[field];
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const skipped = column > 0 ? [...lines[line - 1]].slice(0, column - 1).join("").length : 0;
  area.focus();
  area.setSelectionRange(before + skipped, before + (lines[line - 1] ?? "").length);
}

form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-go]");
  if (button) go(button.dataset);
});
form.addEventListener("toggle", (event) => event.target.open && event.target.matches(".draft") && ask(event.target), true);
document.addEventListener("htmx:afterSwap", () => showButtons(form));
window.addEventListener("load", () => {
  showButtons(form);
  for (const mode of form.querySelectorAll(".draft[open]")) ask(mode);
});
