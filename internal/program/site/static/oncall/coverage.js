// Gaps in the calendar of a team, and how many hours each person is on call.
import { field, fill, flash, h, options, page as read, ready, table, working } from "./dom.js";
import { iso, path, query, timed, v0, v1 } from "./api.js";
import { dialog } from "./dialog.js";
import { loadTeam } from "./rights.js";
import { onUndo } from "./undo.js";
import { isAway, roleBadge } from "./roles.js";
import { addOrReplace } from "./shiftform.js";
import { describeWindow, windowsForm } from "./windows.js";
import { date, length, span } from "./zone.js";
import { zoneSwitch } from "./zoneswitch.js";

const page = read();
const day = 86400;
let team, roles, zone, ahead, back, role, gaps, conflicts, required, shares;

ready(async () => {
  [team, roles] = await Promise.all([loadTeam(page), v0.get("/roles")]);
  roles.sort((a, b) => a.display_order - b.display_order || a.id - b.id);
  zone = zoneSwitch(page, () => load());
  ahead = h(
    "select",
    { onchange: () => Promise.all([loadGaps(), loadConflicts()]) },
    options(
      [
        [14, "two weeks"],
        [30, "30 days"],
        [90, "90 days"],
      ],
      30,
    ),
  );
  back = h(
    "select",
    { onchange: loadShares },
    options(
      [
        [30, "30 days"],
        [90, "90 days"],
        [365, "a year"],
      ],
      90,
    ),
  );
  role = h(
    "select",
    { onchange: loadShares },
    h("option", { value: "" }, "all roles"),
    options(roles.filter((r) => !isAway(r.name)).map((r) => r.name)),
  );
  gaps = h("div", { "aria-live": "polite" });
  conflicts = h("div", { "aria-live": "polite" });
  required = h("div");
  shares = h("div", { "aria-live": "polite" });
  fill(
    page.el,
    zone.el,
    h("section", { class: "card flush" }, h("div", { class: "row spread card-head" }, h("h2", {}, "Gaps"), field("Ahead", ahead)), gaps),
    h("section", { class: "card flush" }, h("div", { class: "card-head" }, h("h2", {}, "On call and unavailable")), conflicts),
    h("section", { class: "card flush" }, h("div", { class: "card-head" }, h("h2", {}, "Required cover")), required),
    h(
      "section",
      { class: "card flush" },
      h(
        "div",
        { class: "row spread card-head" },
        h("h2", {}, "Fairness"),
        h("div", { class: "row" }, field("Role", role), field("The last", back)),
      ),
      shares,
    ),
  );
  onUndo(load);
  await load();
});

const load = () => Promise.all([loadGaps(), loadConflicts(), loadRequired(), loadShares()]);
const now = () => Math.floor(Date.now() / 1000);

async function loadGaps() {
  try {
    const found = (await v1.list(path`/teams/${team.name}/gaps` + query({ start: iso(now()), end: iso(now() + Number(ahead.value) * day) }))).map(timed);
    fill(
      gaps,
      found.length > 0 && gapChart(found, now(), now() + Number(ahead.value) * day),
      table(
        ["Role", "When", "#Length", "Why", ""],
        found.map((g) => [
          roleBadge(g.role),
          span(g.start, g.end, zone.zone()),
          length(g.end - g.start),
          g.kind === "nobody" ? "nobody is on call" : h("span", { class: "dim" }, "not populated yet: a schedule will fill it"),
          team.mayEdit && h("button", { type: "button", onclick: () => close(g) }, "Fill…"),
        ]),
        "No gaps: somebody is on call in all hours that need cover.",
      ),
    );
  } catch (e) {
    fill(gaps, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

// loadConflicts shows shifts of people who are unavailable during them.
async function loadConflicts() {
  try {
    const found = (await v1.list(path`/teams/${team.name}/conflicts` + query({ start: iso(now()), end: iso(now() + Number(ahead.value) * day) }))).map(timed);
    fill(
      conflicts,
      table(
        ["Person", "Role", "Shift", "Entered by"],
        [...new Map(found.map((c) => [c.event_id + c.set_by, c])).values()].map((c) => [c.full_name || c.user, roleBadge(c.role), span(c.start, c.end, zone.zone()), c.set_by || ""]),
        "No conflicts: everybody is available in their shifts.",
      ),
    );
  } catch (e) {
    fill(conflicts, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

async function close(g) {
  const saved = await addOrReplace({ team, roles, shifts: [], zone: zone.zone(), start: g.start, end: g.end, role: g.role });
  if (!saved) return;
  load();
}

const covers = [
  ["schedules", "in the hours of its schedules"],
  ["always", "always"],
  ["never", "never"],
  ["hours", "in these hours"],
];

async function loadRequired() {
  try {
    const found = await v1.list(path`/teams/${team.name}/coverage`);
    const others = roles.map((r) => r.name).filter((n) => !isAway(n) && !found.some((w) => w.role === n));
    fill(
      required,
      table(
        ["Role", "Needs cover", ""],
        found.map((w) => [
          roleBadge(w.role),
          covers.find(([c]) => c === w.cover)[1] + (w.hours.length ? ": " + w.hours.map(describeWindow).join("; ") : ""),
          team.mayManage && h("button", { type: "button", onclick: () => editCover(w) }, "Change…"),
        ]),
        "No role needs cover: the team has no schedule.",
      ),
      h(
        "p",
        { class: "hint card-note" },
        "A role whose schedules cover certain hours needs cover in those hours. A role with a schedule around the clock always needs cover.",
      ),
      team.mayManage &&
        others.length > 0 &&
        h(
          "div",
          { class: "card-note" },
          h("button", { type: "button", onclick: () => editCover({ cover: "always", hours: [] }, others) }, "Another role…"),
        ),
    );
  } catch (e) {
    fill(required, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

// editCover edits the hours in which a role needs cover. With others, the reader chooses the role from them.
async function editCover(w, others) {
  const name = others && h("select", {}, options(others));
  const cover = h("select", { onchange: () => (windows.el.hidden = cover.value !== "hours") }, options(covers, w.cover));
  const windows = windowsForm(w.hours);
  windows.el.hidden = w.cover !== "hours";
  const button = h("button", { type: "button", class: "primary" }, "Save");
  const d = dialog({
    title: others ? "Cover for another role" : "Cover for " + w.role,
    body: h("div", { class: "stack" }, name && field("Role", name), field("Needs cover", cover), windows.el),
    actions: [button, h("button", { type: "button", onclick: () => d.close() }, "Cancel")],
  });
  button.onclick = async () => {
    try {
      d.fail(null);
      const body = { cover: cover.value, hours: cover.value === "hours" ? windows.read() : [] };
      await working(button, () => v1.put(path`/teams/${team.name}/coverage/${name ? name.value : w.role}`, body));
      d.close(true);
    } catch (e) {
      d.fail(e);
    }
  };
  if ((await d.done) !== true) return;
  flash("Saved.");
  load();
}

async function loadShares() {
  try {
    const found = await v1.list(
      path`/teams/${team.name}/fairness` + query({ start: iso(now() - Number(back.value) * day), end: iso(now()), role: role.value }),
    );
    fill(
      shares,
      found.length > 0 && shareChart(found),
      table(
        ["Person", "#Shifts", "#Hours", "#Night hours", "#Weekend hours", "#Holiday hours"],
        found
          .sort((a, b) => b.hours - a.hours)
          .map((p) => [
            p.full_name || p.user,
            String(p.shifts),
            figure(p.hours),
            figure(p.nights),
            figure(p.weekends),
            figure(p.holidays),
          ]),
        "Nobody was on call in this time.",
      ),
    );
  } catch (e) {
    fill(shares, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

const figure = (n) => String(Math.round(n * 10) / 10);

// gapChart draws a line of time for each role, with its gaps. The table below has the same.
function gapChart(found, from, to) {
  const at = (t) => (Math.min(Math.max(t, from), to) - from) / (to - from);
  const line = (role) =>
    h(
      "div",
      { class: "bar-row" },
      roleBadge(role),
      h("div", { class: "bar" }, found.filter((g) => g.role === role).map((g) => segment(at(g.start), at(g.end), g.kind === "nobody" ? "gap" : "open"))),
    );
  return h(
    "figure",
    { class: "chart card-note" },
    h("figcaption", { class: "hint" }, "Red: nobody is on call. Grey: not populated yet."),
    h("div", { "aria-hidden": "true" }, [...new Set(found.map((g) => g.role))].map(line), h("div", { class: "row spread dim small bar-ends" }, h("span", {}, date(from, zone.zone())), h("span", {}, date(to, zone.zone())))),
  );
}

const chartLength = 30; // people

// shareChart draws the hours of each person; the striped part is at night or on a weekend.
function shareChart(found) {
  const most = Math.max(1, ...found.map((p) => p.hours));
  const rows = [...found].sort((a, b) => b.hours - a.hours).slice(0, chartLength);
  const odd = (p) => Math.min(p.hours, Math.max(p.nights, p.weekends));
  return h(
    "figure",
    { class: "chart card-note" },
    h("figcaption", { class: "hint" }, "Hours on call. Striped: at night or on weekends, at least."),
    h(
      "div",
      { "aria-hidden": "true" },
      rows.map((p) =>
        h("div", { class: "bar-row" }, h("bdi", {}, p.full_name || p.user), h("div", { class: "bar" }, segment(0, p.hours / most), segment(0, odd(p) / most, "odd")), h("span", { class: "small" }, figure(p.hours) + " h")),
      ),
    ),
  );
}

// segment is a part of a bar. from and to are between 0 and 1.
function segment(from, to, kind) {
  const el = h("span", { class: kind });
  el.style.left = from * 100 + "%";
  el.style.width = Math.max(0.4, (to - from) * 100) + "%";
  return el;
}
