// The teams that the reader looked at last in this browser.
const key = "iris.oncall.recent";
const kept = 6;

export function recent() {
  try {
    return JSON.parse(localStorage.getItem(key)) || [];
  } catch {
    return [];
  }
}

// look puts a team first.
export function look(team) {
  try {
    localStorage.setItem(key, JSON.stringify([team, ...recent().filter((t) => t !== team)].slice(0, kept)));
  } catch {
    /* no storage in private windows */
  }
}
