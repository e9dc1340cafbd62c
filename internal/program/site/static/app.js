// The script of all pages. It shows times in the reader's time zone (the server renders UTC), updates ages, and keeps drafts of comments.
// console/live.js updates live parts.
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
// The clock with 12 or 24 hours that the person chose.
const hours = { 12: { hour12: true }, 24: { hourCycle: "h23" } }[document.body.dataset.clock];
const format = (fields) => new Intl.DateTimeFormat([], { ...fields, ...(fields.hour ? hours : {}), timeZone: zone });
const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const formats = {
  time: format(time),
  short: format({ hour: "2-digit", minute: "2-digit" }),
  weekday: format({ weekday: "short", day: "numeric", month: "short" }),
  day: format({ day: "numeric", month: "short" }),
  year: format({ year: "numeric" }),
  weekdayOfYear: format({ weekday: "short", day: "numeric", month: "short", year: "numeric" }),
  dayOfYear: format({ day: "numeric", month: "short", year: "numeric" }),
  date: format({ dateStyle: "short" }),
  full: format({ weekday: "short", day: "numeric", month: "short", year: "numeric", ...time }),
};
// dated puts the day before a time that is not of today, with the year if it is another one.
function dated(at, day, text) {
  const same = (f) => f.format(at) === f.format(new Date());
  return same(formats.date) ? text : formats[same(formats.year) ? day : day + "OfYear"].format(at) + ", " + text;
}
const clock = (at) => dated(at, "day", formats.time.format(at));
// short is a time of a calendar, which has no seconds.
const short = (at) => dated(at, "weekday", formats.short.format(at));
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
for (const event of ["htmx:afterSwap", "iris:updated"]) document.addEventListener(event, () => show(document));
setInterval(() => show(document), 1000);

// When a new part has data-announce, screen readers announce that text instead of the content of the part.
const announced = new WeakSet();
let liveRegion = null;
function announce() {
  for (const part of document.querySelectorAll("[data-announce]")) {
    if (announced.has(part)) continue;
    announced.add(part);
    if (!liveRegion) {
      liveRegion = document.createElement("p");
      liveRegion.className = "unseen";
      liveRegion.setAttribute("role", "status");
      document.querySelector("main").append(liveRegion);
    }
    setTimeout(() => { liveRegion.textContent = part.dataset.announce; }, 100); // screen readers announce changes only of an element that exists already
  }
}
document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-announce]").forEach((part) => announced.add(part))); // not the parts of the loaded page
document.addEventListener("htmx:afterSwap", announce);

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

// Ctrl-K (or Cmd-K) and the link in the header open the search.
const find = document.querySelector("a.find");
function search(e) {
  e.preventDefault();
  import(find.dataset.module).then((m) => m.open(), () => { location.href = find.href; });
}
find?.addEventListener("click", (e) => { if (!e.ctrlKey && !e.metaKey && !e.shiftKey) search(e); });
document.addEventListener("keydown", (e) => { if (find && (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") search(e); });

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

// A refused form is shown again with the reason: the focus moves to the first wrong field, or to the reason if no field is marked.
document.addEventListener("DOMContentLoaded", () => {
  [...document.querySelectorAll("[aria-describedby=problem], [id^=wrong-]"), document.getElementById("problem")].find((e) => e?.checkVisibility())?.focus();
});

// A form is sent only once: a second press on a slow connection does nothing. This handler runs after the page scripts, which send some forms themselves.
addEventListener("submit", (e) => {
  const form = e.target;
  if (e.defaultPrevented || form.method !== "post" || form.target || e.submitter?.formTarget) return;
  if (form.dataset.sending) return e.preventDefault();
  form.dataset.sending = "yes";
  e.submitter?.setAttribute("aria-busy", "true");
  setTimeout(() => unlock(form), 10000); // the connection may be lost
  if (form === reachable || !form.getAttribute("action")?.startsWith("/incidents/")) return;
  e.preventDefault();
  sendIfReachable(form, e.submitter);
});
// A form of an incident is sent only after the server has answered another request. Without a connection, the browser would show its own error page.
// The check comes first because the server may have carried out a request whose answer was lost.
let reachable = null; // the form that is being sent
async function sendIfReachable(form, button) {
  const action = form.getAttribute("action");
  try {
    await fetch("/healthcheck", { method: "HEAD", cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(8000) });
  } catch {
    unlock(form);
    return sayAtTop("Iris cannot be reached. Nothing was changed. Try again when you are connected.");
  }
  unlock(form);
  // The page may have changed meanwhile: "Acknowledge" of a resolved incident becomes "Undo the resolve".
  if (!form.isConnected || form.getAttribute("action") !== action) return sayAtTop("The incident has just changed. Your action was not sent.");
  reachable = form;
  form.requestSubmit(button);
  reachable = null;
}
function unlock(form) {
  delete form.dataset.sending;
  for (const button of form.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
}
addEventListener("pageshow", () => document.querySelectorAll("form[data-sending]").forEach(unlock)); // after Back

// If a form with data-guard has unsaved changes, the browser asks before it leaves the page.
let unsaved = false;
document.addEventListener("input", (e) => { unsaved ||= Boolean(e.target.closest?.("form[data-guard]")); });
document.addEventListener("submit", (e) => { unsaved &&= e.defaultPrevented || Boolean(e.submitter?.formTarget); });
addEventListener("beforeunload", (e) => { if (unsaved) e.preventDefault(); });

// Without a connection every page says so. Forms keep what was typed.
let offline = null;
function sayAtTop(text) {
  offline?.remove(); // screen readers announce a new alert
  offline = document.createElement("div");
  offline.className = "flash bad offline";
  offline.setAttribute("role", "alert");
  offline.textContent = text;
  document.querySelector("main").prepend(offline);
  offline.scrollIntoView({ block: "nearest" });
}
addEventListener("offline", () => sayAtTop("You are offline. This page may be out of date, and nothing can be sent. Pages still reach you as usual."));
addEventListener("online", () => { offline?.remove(); offline = null; });
