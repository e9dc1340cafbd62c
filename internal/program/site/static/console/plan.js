// The editor of plans: buttons that change the form work without loading the page, and the plan is checked and previewed as one types.
// Without this script each button loads the page again.
let waiting = 0, asked = 0;

async function send(what) {
  const form = document.getElementById("editor"), body = new URLSearchParams(new FormData(form));
  body.set("do", what);
  const answer = await fetch(form.action, { method: "POST", body, headers: { "HX-Request": "true" }, redirect: "error" });
  if (!answer.ok) throw new Error(String(answer.status));
  const part = new DOMParser().parseFromString(await answer.text(), "text/html");
  return part.body.firstElementChild;
}

function say(text) {
  const p = document.createElement("p");
  p.className = "flash bad";
  p.setAttribute("role", "alert");
  p.textContent = text;
  document.getElementById("draft").replaceChildren(p);
}

// mark shows which field and which step the problem is about.
function mark() {
  const draft = document.getElementById("draft"), { field, step } = draft.dataset;
  for (const wrong of document.querySelectorAll("#editor .wrong")) wrong.classList.remove("wrong");
  for (const reason of document.querySelectorAll("#editor .reason")) reason.remove();
  for (const input of document.querySelectorAll("#editor [aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
  if (step) document.querySelector(`#editor [data-number="${Number(step)}"]`)?.classList.add("wrong");
  const input = field && document.getElementById("editor").elements.namedItem(field);
  if (!input || !input.closest) return;
  input.closest("label")?.classList.add("wrong");
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", "problem");
  const label = input.closest("label")?.querySelector("span")?.textContent.trim(), problem = document.querySelector("#problem p");
  if (label && problem) problem.textContent = problem.textContent.replaceAll(field, `“${label}”`);
}

async function check() {
  const number = ++asked;
  try {
    const part = await send("check");
    if (number !== asked) return;
    const open = [...document.querySelectorAll("#draft details")].map((d) => d.open);
    document.getElementById("draft").replaceWith(part);
    [...document.querySelectorAll("#draft details")].forEach((d, i) => { d.open = open[i] || false; });
    mark();
    document.dispatchEvent(new Event("htmx:afterSwap"));
  } catch {
    if (number === asked) say("The plan could not be checked: the server did not answer, or your session has ended. What you typed is still here. Save it, or try again.");
  }
}

// fields returns the fields of a form by their name, and their number among those with the same name.
function fields(form) {
  const all = new Map(), counts = {};
  for (const e of form.elements) {
    if (e.name) all.set(e.name + " " + (e.name === "do" ? e.value : (counts[e.name] = (counts[e.name] ?? 0) + 1)), e);
  }
  return all;
}

const state = (e) => (e.type === "checkbox" ? e.checked : e.value);

// keep copies what was typed in form after it was sent into part. It returns a function that restores the focus.
function keep(form, sent, part) {
  const to = fields(part);
  let focused;
  for (const [key, e] of fields(form)) {
    const same = to.get(key);
    if (!same) continue;
    if (sent.has(key) && sent.get(key) !== state(e)) same[e.type === "checkbox" ? "checked" : "value"] = state(e);
    if (e === document.activeElement) focused = [same, e.selectionStart, e.selectionEnd];
  }
  return () => {
    if (!focused) return;
    const [e, start, end] = focused;
    e.focus({ preventScroll: true });
    if (typeof start === "number") e.setSelectionRange(start, end);
  };
}

// change carries out a button. Until the answer arrives, the form takes no input, because the answer can rename its fields. A preview renames
// none, so people can continue to type. The answer of an earlier change is ignored when a later change has begun.
let changes = 0;
async function change(what) {
  const sending = document.getElementById("editor");
  if (sending.inert) return;
  const number = ++changes, sent = new Map([...fields(sending)].map(([key, e]) => [key, state(e)]));
  asked++;
  clearTimeout(waiting);
  const answer = send(what);
  sending.inert = what !== "preview";
  sending.setAttribute("aria-busy", "true");
  try {
    const part = await answer, form = document.getElementById("editor");
    if (number !== changes) return;
    const refocus = what === "preview" && keep(form, sent, part), settings = form.querySelector("details.card")?.open;
    form.replaceWith(part);
    part.querySelector("details.card").open ||= settings;
    mark();
    document.dispatchEvent(new Event("htmx:afterSwap"));
    if (refocus) refocus();
    else focus(part, what);
  } catch {
    if (number !== changes) return;
    sending.inert = false;
    sending.removeAttribute("aria-busy");
    say("The form could not be changed: the server did not answer, or your session has ended. What you typed is still here.");
  }
}

// focus moves the focus to what a button added, or near to what it removed.
function focus(form, what) {
  const [verb, step] = what.split(":"), steps = [...form.querySelectorAll(".step")];
  const number = verb === "add-step" ? steps.length - 1 : Number(step) + (verb === "up" ? -1 : verb === "down" ? 1 : 0);
  const at = steps[Math.min(number, steps.length - 1)];
  if (verb === "add-step" || verb === "add") [...at.querySelectorAll(".row-form")].at(-1)?.querySelector("select").focus();
  else (at?.querySelector(`button[value^="${verb}:"]`) || at?.querySelector("button") || form.querySelector("button[value=add-step]")).focus();
}

document.addEventListener("submit", (e) => {
  const button = e.submitter;
  if (e.target.id !== "editor" || !button || button.value === "save") return;
  e.preventDefault();
  change(button.value);
});

document.addEventListener("input", (e) => {
  if (!e.target.closest?.("#editor")) return;
  clearTimeout(waiting);
  waiting = setTimeout(check, 400);
  if (e.target.getAttribute("list") === "names") suggest(e.target);
});

// A change of the role or of when a step applies shows other fields.
document.addEventListener("change", (e) => {
  const name = e.target.name || "";
  if (!e.target.closest?.("#editor")) return;
  const shown = name.endsWith(".target.role") && e.target.querySelector("option[selected]")?.value; // the role whose fields the form shows
  const dynamic = name.endsWith(".target.role") && (e.target.value === "incident") !== (shown === "incident");
  if (!dynamic && !name.endsWith(".when") && !name.endsWith(".dynamic_index")) return;
  change("preview");
});

// suggest offers names of people, teams or lists that fit the role of the row.
let typing = 0;
async function suggest(input) {
  const row = input.closest(".fields"), role = row?.querySelector("[data-role]"), kind = role?.selectedOptions[0]?.dataset.kind;
  const list = document.getElementById("names"), number = ++typing;
  if (!kind || !input.value) return;
  try {
    const answer = await fetch(`/v0/targets/${encodeURIComponent(kind)}?active=1&startswith=${encodeURIComponent(input.value)}`);
    const names = answer.ok ? await answer.json() : [];
    if (number !== typing) return;
    list.replaceChildren(...names.slice(0, 20).map((n) => Object.assign(document.createElement("option"), { value: n })));
  } catch {
    // Suggestions are a convenience.
  }
}

if (document.querySelector("#editor input[name=name][type=hidden]")) check();
