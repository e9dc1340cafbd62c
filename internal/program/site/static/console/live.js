// Keeps the live part of a page (page.Live) up to date. The server streams what changed (page.Stream). While there is no stream, htmx requests the
// part every 2 seconds.
const shown = () => document.dispatchEvent(new CustomEvent("iris:updated")); // app.js shows times

// update changes a live part in place. Elements do not move, so the focus stays and a tap hits the intended element.
// same reports whether an element can be updated to another one.
function same(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");
}
function update(from, to) {
  if (from.nodeType !== Node.ELEMENT_NODE) {
    if (from.data !== to.data) from.data = to.data;
    return;
  }
  if (from.nodeName === "TIME" && from.dateTime === to.dateTime) return; // the browser sets its text
  for (const a of [...from.attributes]) if (!to.hasAttribute(a.name) && a.name !== "open" && a.name !== "style") from.removeAttribute(a.name);
  for (const a of to.attributes) if (from.getAttribute(a.name) !== a.value) from.setAttribute(a.name, a.value);
  const known = new Map([...from.children].filter((c) => c.id).map((c) => [c.id, c]));
  let at = from.firstChild;
  for (const want of [...to.childNodes]) {
    let have = want.id ? known.get(want.id) : at && same(at, want) ? at : null;
    if (have && !same(have, want)) have = null;
    if (have && have === at) at = at.nextSibling;
    else if (have) from.insertBefore(have, at);
    if (have) update(have, want);
    else from.insertBefore(document.importNode(want, true), at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}
const idsOf = (root) => [...(root.querySelector("#rows")?.children || [])];
let latest = null; // the list of the server, if it differs from the shown list
const title = document.title;
// updateList updates the shown rows without moving them. New rows appear after a press on the button at the bottom of the window.
function updateList(live, to) {
  const fresh = new Map(idsOf(to).map((r) => [r.id, r])), shown = idsOf(live);
  let gone = 0;
  for (const row of shown) {
    const is = fresh.get(row.id);
    fresh.delete(row.id);
    row.style.height = row.offsetHeight + "px"; // a removed button must not move the rows below
    if (is) update(row, is);
    else {
      gone++;
      row.classList.add("gone");
      row.title = "No longer in this list";
    }
  }
  live.setAttribute("hx-headers", to.getAttribute("hx-headers"));
  const tabs = live.querySelector(".tabs"), counted = to.querySelector(".tabs");
  if (tabs && counted) update(tabs, counted.cloneNode(true)); // their numbers
  latest = fresh.size || gone ? to : null;
  const text = [fresh.size && fresh.size + " new", gone && gone + " gone"].filter(Boolean).join(", ");
  document.title = (fresh.size ? "(" + fresh.size + ") " : "") + title;
  const news = document.getElementById("news");
  if (!latest) return news.replaceChildren();
  let button = news.querySelector("button");
  if (!button) {
    button = document.createElement("button");
    button.className = "primary";
    button.addEventListener("click", () => showLatest(live));
    news.append(button);
  }
  button.textContent = text;
}
function showLatest(live) {
  if (!latest) return;
  const had = new Set(idsOf(live).map((r) => r.id)), focused = document.activeElement?.closest("#news");
  update(live, latest);
  for (const row of idsOf(live)) row.removeAttribute("style");
  latest = null;
  document.title = title;
  document.getElementById("news").replaceChildren();
  shown();
  scrollTo({ top: 0 });
  if (focused) idsOf(live).find((r) => !had.has(r.id))?.querySelector(".title a")?.focus();
}
// change shows another state of the live part. The element with the focus stays where it is.
function change(live, to) {
  const active = document.activeElement, top = active?.getBoundingClientRect().top;
  const list = document.getElementById("news") && idsOf(live).length > 0;
  if (list && !document.hidden) updateList(live, to);
  else if (list) { latest = to; showLatest(live); }
  else update(live, to);
  shown();
  if (active && active !== document.body) {
    const lost = !active.isConnected || active.disabled || active.closest(".gone form");
    if (lost) (active.closest("tr")?.querySelector(".title a") || live.querySelector("h1"))?.focus();
    else scrollBy(0, active.getBoundingClientRect().top - top); // content that grew above must not move it
  }
}
const live = () => document.getElementById("live");
const parsed = (html) => new DOMParser().parseFromString(html, "text/html");
document.addEventListener("htmx:beforeSwap", (e) => {
  if (e.detail.target.id !== "live" || !e.detail.shouldSwap) return;
  const to = parsed(e.detail.serverResponse).getElementById("live");
  if (!to) return;
  e.detail.shouldSwap = false;
  known = to;
  change(live(), to);
});

// The stream. known is the live part as the server has it; the shown one may lack new rows.
const retryAfter = 10_000, hiddenEvery = 30_000; // in ms
let known = live()?.cloneNode(true), stream = null, streaming = false, retry = 0, asked = Date.now();
const seen = () => JSON.parse(known.getAttribute("hx-headers"))["X-Seen"];
function receive(e) {
  const data = JSON.parse(e.data), rows = new Map(idsOf(known).map((r) => [r.id, r]));
  for (const [id, html] of Object.entries(data.rows || {})) {
    const t = document.createElement("template");
    t.innerHTML = html;
    rows.set(id, t.content.firstElementChild);
  }
  const to = known.cloneNode(false);
  to.setAttribute("hx-headers", JSON.stringify({ "X-Seen": data.seen }));
  if (data.frame === undefined) to.append(...[...known.childNodes].map((n) => n.cloneNode(true)));
  else to.innerHTML = "\n" + data.frame + "\n"; // as in the page, so that update finds the same nodes
  to.querySelector("#rows")?.replaceChildren(...(data.order || []).map((id) => rows.get(id)));
  known = to;
  change(live(), to.cloneNode(true));
}
function close() {
  clearTimeout(retry);
  stream?.close();
  stream = null;
  streaming = false;
}
function open() {
  close();
  if (document.hidden || !known) return;
  const address = new URL(known.getAttribute("hx-get"), location.href);
  address.searchParams.set("seen", seen());
  stream = new EventSource(address);
  stream.addEventListener("open", () => {
    streaming = true;
    calm();
  });
  stream.addEventListener("part", receive);
  stream.addEventListener("login", (e) => {
    close();
    location.assign(JSON.parse(e.data));
  });
  stream.addEventListener("error", () => { // until then htmx requests the part, and says what is wrong
    close();
    retry = setTimeout(open, retryAfter);
  });
}
document.addEventListener("htmx:beforeRequest", (e) => {
  if (e.detail.target.id !== "live") return;
  if (streaming || (document.hidden && Date.now() - asked < hiddenEvery)) e.preventDefault();
  else asked = Date.now();
});
document.addEventListener("visibilitychange", open);
addEventListener("pagehide", close);
addEventListener("pageshow", (e) => { if (e.persisted) open(); });
if (known && window.EventSource) open();

// warn shows that the page cannot be refreshed. Without it an old page would look like a current one.
let warning = null;
function warn(text) {
  if (!warning) {
    warning = document.createElement("div");
    warning.className = "flash bad";
    warning.setAttribute("role", "alert");
    document.querySelector("main").prepend(warning);
  }
  warning.textContent = text + " This page may be out of date. It tries again every 2 seconds.";
}
for (const event of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(event, () => warn("No connection to Iris."));
}
document.addEventListener("htmx:responseError", (e) => {
  if (e.detail.xhr.status === 401) warn("Your session has ended. Save: what you typed is kept through the log-in.");
  else warn(e.detail.xhr.status === 503 ? "Iris cannot reach its database." : "Iris answered with an error (" + e.detail.xhr.status + ").");
});
document.addEventListener("htmx:afterOnLoad", (e) => { if (e.detail.xhr.status < 400) calm(); });
function calm() {
  warning?.remove();
  warning = null;
}
