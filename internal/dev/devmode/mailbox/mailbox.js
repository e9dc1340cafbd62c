// Keeps the list fresh: asks every second whether something changed, and leaves alone what the reader is working on.
"use strict";
const list = document.getElementById("list");
let state = '"' + list.dataset.state + '"';

const busy = () => {
  const field = document.activeElement;
  return field && field.tagName === "INPUT" && list.contains(field);
};

async function refresh() {
  if (document.hidden || busy()) return;
  const answer = await fetch("/dev/mailbox/list", { headers: { "If-None-Match": state }, cache: "no-store" });
  if (answer.status !== 200) return;
  const text = await answer.text();
  state = answer.headers.get("ETag");
  const fresh = document.createElement("div");
  fresh.innerHTML = text;
  // What is there already stays as it is, so that frames do not load again and open details stay open.
  const kept = new Map([...list.querySelectorAll("article")].map((a) => [a.id, a]));
  const next = [...fresh.children].map((a) => {
    const old = kept.get(a.id);
    return old && old.textContent === a.textContent ? old : a;
  });
  next.forEach((a, i) => { if (list.children[i] !== a) list.insertBefore(a, list.children[i] || null); });
  while (list.children.length > next.length) list.lastElementChild.remove();
}

async function loop() {
  try { await refresh(); } catch { /* the server is away; it is asked again */ }
  setTimeout(loop, 1000);
}
setTimeout(loop, 1000);

list.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const data = new URLSearchParams(new FormData(form, event.submitter));
  document.activeElement.blur();
  form.querySelectorAll("button").forEach((b) => { b.disabled = true; });
  try {
    await fetch(form.action, { method: "POST", body: data, headers: { Accept: "application/json" } });
    await refresh();
  } finally {
    form.querySelectorAll("button").forEach((b) => { b.disabled = false; });
  }
});
