// Keys and ticks of the list of incidents. Everything works without this script too, with the mouse and the Tab key.
const rows = () => [...document.querySelectorAll("#rows > tr:not(.gone)")];
const bulk = document.getElementById("bulk");
const keys = document.getElementById("keys");
let current = "";

// here is the row that the keys act on: the one with the focus, else the one that had it.
const here = () => document.activeElement?.closest?.("#rows > tr") || document.getElementById(current);
document.addEventListener("focusin", (e) => {
  const row = e.target.closest("#rows > tr");
  if (row) current = row.id;
});

function move(by) {
  const all = rows(), at = all.indexOf(here());
  const row = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!row) return;
  row.querySelector(".title a").focus();
  row.scrollIntoView({ block: "nearest" });
}

const box = (row) => row?.querySelector("input[name=id]");
const ticked = () => [...document.querySelectorAll("#rows input[name=id]:checked")];
function count() {
  const n = ticked().length, all = bulk?.elements.all;
  if (all && !n) all.checked = false; // the form is hidden then
  const text = bulk?.querySelector(".ticked");
  if (text) text.textContent = all?.checked ? "All that match:" : n + " ticked:";
}
document.addEventListener("change", (e) => { if (e.target.name === "id" || e.target.name === "all") count(); });
bulk?.addEventListener("reset", () => setTimeout(count));
count();

function tick() {
  const b = box(here());
  if (!b) return;
  b.checked = !b.checked;
  count();
}
// press changes the ticked incidents, or the current one if none is ticked.
function press(verb) {
  if (!bulk) return;
  if (!ticked().length) tick();
  if (!ticked().length) return;
  if (verb === "snooze") bulk.elements.for.focus();
  else bulk.requestSubmit(bulk.querySelector(`button[value=${verb}]`));
}

const actions = {
  j: () => move(1), k: () => move(-1), x: tick,
  o: () => here()?.querySelector(".title a").click(),
  Enter: () => here()?.querySelector(".title a").click(),
  a: () => press("acknowledge"), r: () => press("resolve"), s: () => press("snooze"),
  n: () => document.querySelector("#news button")?.click(),
  "/": () => document.querySelector("#filter input[name=text]").focus(),
  "?": () => keys.showModal(),
};
// The help sheet has a switch for the keys. Each browser stores its own choice, because speech input is used on one computer.
const use = keys.querySelector("input[name=keys]");
try { use.checked = localStorage.getItem("keys") !== "off"; } catch { /* a browser without storage forgets the choice */ }
use.addEventListener("change", () => {
  try { localStorage.setItem("keys", use.checked ? "on" : "off"); } catch { /* as above */ }
});

document.addEventListener("keydown", (e) => {
  if (!use.checked) return;
  if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || e.defaultPrevented) return;
  if (e.target.closest("input:not([type=checkbox]), select, textarea, dialog, [contenteditable]")) return;
  if (e.key === "Enter" && e.target !== document.body) return; // the browser presses what has the focus
  const action = Object.hasOwn(actions, e.key) && actions[e.key];
  if (!action) return;
  e.preventDefault();
  action();
});

// The link to the sheet works without this script: the address selects it.
document.querySelector(".keys-link").addEventListener("click", (e) => {
  e.preventDefault();
  keys.showModal();
});
keys.querySelector("a").addEventListener("click", (e) => {
  if (!keys.matches(":modal")) return;
  e.preventDefault();
  keys.close();
});
