// Times are rendered by the server in UTC and shown in the reader's zone; ages tick.
function age(seconds) {
  if (seconds < 0) seconds = 0;
  if (seconds < 60) return Math.floor(seconds) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h " + Math.floor((seconds % 3600) / 60) + " min";
  return Math.floor(seconds / 86400) + " d";
}
function clock(at) {
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  if (at.toDateString() === new Date().toDateString()) return time;
  return at.toLocaleDateString([], { day: "numeric", month: "short" }) + ", " + time;
}
function show(root) {
  for (const t of root.querySelectorAll("time[datetime]:not(.ec time)")) { // those of the calendar's grid are not ours
    const at = new Date(t.dateTime);
    if (t.dataset.as === "age") t.textContent = age((Date.now() - at) / 1000);
    else t.textContent = clock(at);
    t.title = at.toLocaleString() + " (" + t.dateTime + ")";
  }
}
document.addEventListener("DOMContentLoaded", () => {
  show(document);
  const zone = document.querySelector(".zone-note #zone-name");
  if (zone) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll("_", " ") + ", this browser's zone";
});
document.addEventListener("htmx:afterSwap", () => show(document));
setInterval(() => show(document), 1000);
// A lost connection, or a server without its database, must not look like a quiet night.
let warning = null;
function warn(text) {
  if (!warning) {
    warning = document.createElement("div");
    warning.className = "flash bad";
    warning.setAttribute("role", "alert");
    document.querySelector("main").prepend(warning);
  }
  warning.textContent = text + " What you see may be old. Trying again every few seconds.";
}
for (const event of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(event, () => warn("No connection to Iris."));
}
document.addEventListener("htmx:responseError", (e) => {
  warn(e.detail.xhr.status === 503 ? "Iris cannot reach its database." : "Iris cannot show this now (" + e.detail.xhr.status + ").");
});
document.addEventListener("htmx:afterOnLoad", (e) => {
  if (warning && e.detail.xhr.status < 400) { warning.remove(); warning = null; }
});
