// The home page lists the teams whose calendars were viewed last in this browser, except teams that it shows already.
function recent() {
  const place = document.getElementById("recent"), list = place.querySelector("ul");
  list.replaceChildren();
  const shown = new Set([...document.querySelectorAll("main a[href^='/teams/']")].map((a) => a.getAttribute("href")));
  let teams = [];
  try {
    teams = JSON.parse(localStorage.getItem("iris.oncall.recent")) || [];
  } catch {
    /* private windows have no storage */
  }
  for (const team of teams.slice(0, 6)) {
    const href = "/teams/" + encodeURIComponent(team);
    if (typeof team !== "string" || shown.has(href)) continue;
    const name = document.createElement("bdi");
    name.textContent = team;
    const link = document.createElement("a");
    link.href = href;
    link.append(name);
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  place.hidden = !list.children.length;
}
recent();
document.addEventListener("iris:updated", recent); // an update shows the page as the server has it, without these teams
