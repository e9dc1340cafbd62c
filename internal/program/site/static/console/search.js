// The search of the console: a dialog with the results of /search, which works without this script. app.js loads it when it is first needed.
let dialog = null, field = null, list = null, request = null, timer = 0;

function make() {
  dialog = document.createElement("dialog");
  dialog.className = "sheet search";
  dialog.setAttribute("aria-label", "Search");
  dialog.innerHTML = `<form method="get" action="/search" role="search"><input type="search" name="q" maxlength="200" dir="auto" autocomplete="off"
    aria-label="Incident, person, team, plan, integration or page" placeholder="Incident, person, team, plan, page"></form><div class="results" aria-live="polite"></div>`;
  [field, list] = [dialog.querySelector("input"), dialog.querySelector(".results")];
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(load, 150);
  });
  dialog.querySelector("form").addEventListener("submit", async (e) => {
    e.preventDefault();
    if (list.dataset.of !== field.value) await load();
    (list.querySelector("a") || { click: () => e.target.submit() }).click();
  });
  dialog.addEventListener("keydown", move);
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); }); // beside the dialog
  document.body.append(dialog);
}

// load shows the results for the text. An answer to an older text is thrown away.
async function load() {
  clearTimeout(timer);
  const text = field.value;
  request?.abort();
  request = new AbortController();
  try {
    const answer = await fetch("/search?q=" + encodeURIComponent(text), { headers: { "HX-Request": "true" }, signal: request.signal });
    if (answer.redirected || !answer.ok) throw new Error("no results");
    list.innerHTML = await answer.text();
    list.dataset.of = text;
  } catch (e) {
    if (e.name !== "AbortError") list.textContent = "The search does not answer. Press Enter to try its page.";
  }
}

// The arrow keys move between the field and the results.
function move(e) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (!step) return;
  e.preventDefault();
  const stops = [field, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement) + step;
  stops[Math.max(0, Math.min(at, stops.length - 1))].focus();
}

export function open() {
  if (!dialog) make();
  if (!dialog.open) dialog.showModal();
  field.select();
  if (!field.value) load();
}
