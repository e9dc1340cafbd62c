// Times are rendered by the server in UTC and shown in the reader's zone; ages tick.
function age(seconds) {
  if (seconds < 0) seconds = 0;
  if (seconds < 60) return Math.floor(seconds) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min";
  if (seconds < 86400) return Math.floor(seconds / 3600) + " h " + Math.floor((seconds % 3600) / 60) + " min";
  return Math.floor(seconds / 86400) + " d";
}
function show(root) {
  for (const t of root.querySelectorAll("time[datetime]")) {
    const at = new Date(t.dateTime);
    if (t.dataset.as === "age") t.textContent = age((Date.now() - at) / 1000);
    else t.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
    t.title = at.toLocaleString() + " (" + t.dateTime + ")";
  }
}
document.addEventListener("DOMContentLoaded", () => show(document));
document.addEventListener("htmx:afterSwap", () => show(document));
setInterval(() => show(document), 1000);
// A lost connection must not look like a quiet night.
let lost = null;
document.addEventListener("htmx:sendError", () => {
  if (lost) return;
  lost = document.createElement("div");
  lost.className = "flash bad";
  lost.setAttribute("role", "alert");
  lost.textContent = "No connection to Iris: what you see may be old. Trying again every few seconds.";
  document.querySelector("main").prepend(lost);
});
document.addEventListener("htmx:afterOnLoad", () => { if (lost) { lost.remove(); lost = null; } });
