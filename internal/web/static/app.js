// The script of all pages. It shows times in the reader's time zone (the server renders UTC), updates ages and live parts, and keeps
// drafts of comments.
function age(seconds) {
  if (seconds < 0) seconds = 0;
  if (seconds < 60) return Math.floor(seconds) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h " + Math.floor((seconds % 3600) / 60) + " min";
  return Math.floor(seconds / 86400) + " d";
}
const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const ownZone = valid(document.body.dataset.zone) ? document.body.dataset.zone : "";
const zone = ownZone || browserZone; // of all times on the page
document.cookie = "iris_zone=" + browserZone + "; path=/; max-age=31536000; SameSite=Lax"; // for times that the server formats
function valid(name) {
  try {
    return Boolean(name && new Intl.DateTimeFormat([], { timeZone: name }));
  } catch {
    return false;
  }
}
const format = (fields) => new Intl.DateTimeFormat([], { ...fields, timeZone: zone });
const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const formats = {
  time: format(time),
  short: format({ hour: "2-digit", minute: "2-digit" }),
  weekday: format({ weekday: "short", day: "numeric", month: "short" }),
  day: format({ day: "numeric", month: "short" }),
  date: format({ dateStyle: "short" }),
  full: format({ weekday: "short", day: "numeric", month: "short", year: "numeric", ...time }),
};
function clock(at) {
  const text = formats.time.format(at);
  return formats.date.format(at) === formats.date.format(new Date()) ? text : formats.day.format(at) + ", " + text;
}
// short is a time of a calendar, which has no seconds.
function short(at) {
  const text = formats.short.format(at);
  return formats.date.format(at) === formats.date.format(new Date()) ? text : formats.weekday.format(at) + ", " + text;
}
function show(root) {
  for (const t of root.querySelectorAll("time[datetime]:not(.ec time)")) { // the grid of the calendar formats its times itself
    const at = new Date(t.dateTime);
    let text = clock(at);
    if (t.dataset.as === "age") text = age((Date.now() - at) / 1000);
    else if (t.dataset.as === "until") text = at > Date.now() ? "in " + age((at - Date.now()) / 1000) : "now";
    else if (t.dataset.as === "short") text = short(at);
    else if (t.dataset.as === "full") text = formats.full.format(at);
    if (t.textContent === text) continue;
    t.textContent = text;
    t.title = formats.full.format(at) + ", " + zone + " (" + t.dateTime + ")";
  }
}
document.addEventListener("DOMContentLoaded", () => {
  show(document);
  document.querySelector(".tabs.scroll [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // on phones
  const name = document.querySelector(".zone-note #zone-name");
  if (name) name.textContent = zone.replaceAll("_", " ") + (ownZone ? ", your time zone" : ", this browser's time zone");
});
document.addEventListener("htmx:afterSwap", () => show(document));
setInterval(() => show(document), 1000);

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
  show(live);
  scrollTo({ top: 0 });
  if (focused) idsOf(live).find((r) => !had.has(r.id))?.querySelector(".title a")?.focus();
}
document.addEventListener("htmx:beforeSwap", (e) => {
  const live = e.detail.target;
  if (live.id !== "live" || !e.detail.shouldSwap) return;
  const to = new DOMParser().parseFromString(e.detail.serverResponse, "text/html").getElementById("live");
  if (!to) return;
  e.detail.shouldSwap = false;
  const active = document.activeElement, top = active?.getBoundingClientRect().top;
  const list = document.getElementById("news") && idsOf(live).length > 0;
  if (list && !document.hidden) updateList(live, to);
  else if (list) { latest = to; showLatest(live); }
  else update(live, to);
  show(live);
  if (active && active !== document.body) {
    const lost = !active.isConnected || active.disabled || active.closest(".gone form");
    if (lost) (active.closest("tr")?.querySelector(".title a") || live.querySelector("h1"))?.focus();
    else scrollBy(0, active.getBoundingClientRect().top - top); // content that grew above must not move it
  }
});

// drafts runs a function on the storage for drafts: an unsent comment survives the end of the session and a reload.
function drafts(run) {
  try {
    run(sessionStorage);
  } catch {
    /* private windows have no storage */
  }
}
document.addEventListener("DOMContentLoaded", () => {
  for (const area of document.querySelectorAll("textarea[data-draft]")) {
    const key = "iris.draft " + area.dataset.draft;
    drafts((kept) => {
      if ("done" in area.dataset) kept.removeItem(key);
      else if (!area.value) area.value = kept.getItem(key) || "";
    });
    area.addEventListener("input", () => drafts((kept) => kept.setItem(key, area.value)));
  }
});

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
  warn(e.detail.xhr.status === 503 ? "Iris cannot reach its database." : "Iris answered with an error (" + e.detail.xhr.status + ").");
});
document.addEventListener("htmx:afterOnLoad", (e) => {
  if (warning && e.detail.xhr.status < 400) { warning.remove(); warning = null; }
});

// Copies the text of a command.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }
});
// A menu closes when the person goes elsewhere.
document.addEventListener("click", (e) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target)) menu.open = false;
});
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open], details.sure[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
