// The calendar of a team: who is on call now, and the shifts by month, by week, by person and as a list.
import { announce, fill, flash, h, lazy, options, page as read, ready } from "./dom.js";
import { iso, orNone, path, query, timed, v0, v1 } from "./api.js";
import { grid } from "./grid.js";
import { list } from "./list.js";
import { nowPanel } from "./now.js";
import { pinButton } from "./pins.js";
import { openRequests, requestList } from "./requests.js";
import { loadTeam } from "./rights.js";
import { byOrder, letter, roleClass } from "./roles.js";
import { onUndo } from "./undo.js";
import { instant, span, wall } from "./zone.js";
import { zoneSwitch } from "./zoneswitch.js";

const page = read();
const labels = { month: "Month", week: "Week", people: "People", list: "List" };
const narrow = matchMedia("(max-width: 700px)");
const refreshEvery = 60000; // milliseconds

const views = Object.keys(labels);
const viewKey = narrow.matches ? "view.narrow" : "view"; // phones have a choice of their own
const state = {
  view: views.find((v) => v === remembered(viewKey)) || (narrow.matches ? "list" : "month"),
  hidden: new Set(remembered("hidden", "").split("\n").filter(Boolean)),
  monday: remembered("week") === "monday",
  shifts: [],
  marks: [],
  from: 0,
  to: 0,
};

function remembered(key, otherwise) {
  try {
    return localStorage.getItem("iris.oncall." + key) || otherwise;
  } catch {
    return otherwise;
  }
}
function remember(key, value) {
  try {
    localStorage.setItem("iris.oncall." + key, value);
  } catch {
    /* no storage in private windows */
  }
}

let team, roles, zone, now, calendar, title, picker, legend, requests, holder, steps, conflicts, week;

ready(async () => {
  [team, roles] = await Promise.all([loadTeam(page), v0.get("/roles")]);
  roles.sort((a, b) => a.display_order - b.display_order || a.id - b.id);
  zone = zoneSwitch(page, () => {
    build();
    now.draw();
    loadRequests();
  });
  now = nowPanel({ team, roles, zone: zone.zone, page, taken: reload });
  requests = h("section", { class: "card", hidden: true });
  fill(document.getElementById("team-actions"), pinButton(page), h("button", { type: "button", onclick: () => lazy(() => import("./feeds.js")).then((m) => m?.openFeed("team", team.name)) }, "Calendar feed…"));
  if (!page.readOnly && team.iris_enabled) lazy(() => import("./escalate.js")).then((m) => m?.escalateButton(team, document.getElementById("team-actions")));
  fill(
    page.el,
    h(
      "div",
      { class: "calendar-page" },
      h("div", { class: "aside" }, now.el, requests, about()),
      h(
        "section",
        { class: "card calendar-card", "aria-label": "Calendar" },
        toolbar(),
        (conflicts = h("div", { class: "flash bad", role: "status", hidden: true })),
        (steps = firstSteps()),
        (holder = h("div", { class: "grid-holder" })),
        (legend = h("div", { class: "legend" })),
      ),
    ),
  );
  onUndo(reload);
  build();
  await Promise.all([now.load(), loadRequests()]);
  setInterval(() => {
    if (!document.hidden && !document.querySelector("dialog[open]")) reload(true);
  }, refreshEvery);
});

// firstSteps shows how to set up the calendar of a team without one.
function firstSteps() {
  const all = Object.values(team.rosters || {}),
    peopled = all.some((r) => r.users?.length),
    scheduled = all.some((r) => r.schedules?.length);
  const step = (done, text, href, label) =>
    h("li", {}, done ? h("span", { class: "dim" }, text, " Done.") : [text, " ", h("a", { href }, label)]);
  const at = path`/teams/${team.name}`;
  return h(
    "div",
    { class: "first-steps", hidden: true, data: { wanted: String(team.mayManage && !scheduled) } },
    h("h3", {}, "Nobody is on call yet. What to do next:"),
    h(
      "ol",
      {},
      step(peopled, "Make a roster of the people who take turns.", at + "/rosters", "Rosters"),
      step(scheduled, "Add a rotation or a weekly schedule.", at + "/schedules", "Schedules"),
      step(false, "Name a role of this team in a plan, such as oncall-primary.", "/plans", "Plans"),
    ),
    h("p", { class: "dim small" }, "Or add shifts yourself: drag over days below, or press “Add or override…”."),
  );
}

function about() {
  const facts = [
    team.description && ["", team.description],
    ["Time zone", team.scheduling_timezone.replaceAll("_", " ")],
    team.slack_channel && ["Slack", team.slack_channel],
    team.email && ["E-mail", team.email],
    team.services?.length && ["Services", team.services.join(", ")],
  ].filter(Boolean);
  return h(
    "section",
    { class: "card about" },
    h("h2", {}, "About"),
    h(
      "dl",
      { class: "facts" },
      facts.map(([k, v]) => [h("dt", {}, k), h("dd", { dir: "auto" }, v)]),
    ),
    !team.mayEdit && h("p", { class: "dim small" }, page.readOnly ? "You may only read." : "You are not a member of this team: you may only read."),
  );
}

function toolbar() {
  title = h("h2", { class: "range", "aria-live": "polite" });
  picker = h(
    "div",
    { class: "segmented", role: "group", "aria-label": "View" },
    views.map((v) =>
      h("button", { type: "button", "aria-pressed": String(v === state.view), data: { view: v }, onclick: () => choose(v) }, labels[v]),
    ),
  );
  const go = (step, text, label) => h("button", { type: "button", "aria-label": label, onclick: () => calendar.go(step) }, text);
  return h(
    "div",
    { class: "toolbar" },
    h("div", { class: "row" }, go(-1, "‹", "Earlier"), go(0, "Today"), go(1, "›", "Later"), title),
    h(
      "div",
      { class: "row" },
      picker,
      team.mayEdit && h("button", { type: "button", class: "primary add", onclick: () => add() }, "Add or override…"),
    ),
    zone.el,
    (week = h(
      "select",
      {
        "aria-label": "Weeks begin",
        onchange: () => {
          state.monday = week.value === "monday";
          remember("week", week.value);
          build();
        },
      },
      options(
        [
          ["today", "Weeks begin today"],
          ["monday", "Weeks begin on Monday"],
        ],
        state.monday ? "monday" : "today",
      ),
    )),
  );
}

function choose(view) {
  state.view = view;
  remember(viewKey, view);
  for (const b of picker.children) b.setAttribute("aria-pressed", String(b.dataset.view === view));
  build();
}

// build makes a new calendar. It is called when the page opens and when the view or the time zone changes.
function build() {
  const date = calendar ? middle() : undefined;
  week.hidden = state.view !== "week" && state.view !== "people";
  calendar?.destroy();
  calendar = (state.view === "list" ? list : grid)(fill(holder), {
    zone: zone.zone(),
    view: state.view,
    date,
    monday: state.monday,
    editable: team.mayEdit,
    on: {
      range(from, to, text) {
        Object.assign(state, { from, to });
        title.textContent = text;
        load();
      },
      pick: (start, end, user) => add(atHandOff(start, end), user),
      open,
      move: (shift, to) => move(shift, to),
      changeable: (s) => s.id > 0 && s.team === team.name && s.end > Date.now() / 1000,
    },
  });
}

async function open(shift, near) {
  const dialog = shift && (await lazy(() => import("./details.js")));
  dialog?.details({ shift, near, team, roles, shifts: state.shifts, zone: zone.zone(), page, done: reload });
}

const middle = () => {
  const t = Date.now() / 1000;
  return t >= state.from && t < state.to ? t : (state.from + state.to) / 2;
};

let asked = 0;
async function load(quiet) {
  const mine = ++asked;
  if (!state.to) return;
  try {
    const found = await v0.get(
      "/events" + query({ team: team.name, start__lt: Math.floor(state.to) + 86400, end__gt: Math.floor(state.from) - 86400 }),
    );
    if (mine !== asked) return;
    state.shifts = found.map((s) => ({ ...s, foreign: s.team !== team.name }));
    show();
    await Promise.all([flag(mine), mark(mine)]);
  } catch (e) {
    if (!quiet) flash(e.text || String(e), true);
  }
}

// mark shows the holidays of the team and when its people are unavailable. People edit them on other pages.
async function mark(mine) {
  const from = Math.floor(state.from),
    to = Math.ceil(state.to),
    z = zone.zone();
  const [days, absences] = await Promise.all([
    orNone(v1.get(path`/teams/${team.name}/holidays`), { holidays: [] }),
    v1.list(path`/teams/${team.name}/unavailability` + query({ start: iso(from), end: iso(to) })).then((all) => all.map(timed)),
  ]);
  if (mine !== asked) return;
  state.marks = [
    ...days.holidays
      .map((d) => ({ start: instant(d.date + "T00:00:00", z), title: d.name || "Holiday" }))
      .map((d) => ({ ...d, end: d.start + 86400, day: true }))
      .filter((d) => d.start < to && d.end > from),
    ...absences.filter((a) => team.people.some((p) => p.name === a.user)).map((a) => ({ start: a.start, end: a.end, user: a.user, title: a.subscription ? "Unavailable (from a calendar)" : "Unavailable" })),
  ];
  show();
}

// flag lists the shifts of people who are unavailable during them.
async function flag(mine) {
  const from = Math.max(Math.floor(state.from), Math.floor(Date.now() / 1000));
  const found = from < state.to ? (await v1.list(path`/teams/${team.name}/conflicts` + query({ start: iso(from), end: iso(Math.ceil(state.to)) }))).map(timed) : [];
  if (mine !== asked) return;
  const of = new Map(found.map((c) => [c.event_id, c])), // a shift may overlap several unavailabilities
    shifts = [...of.values()];
  if (found.length) {
    state.shifts = state.shifts.map((s) => ({ ...s, conflict: of.get(s.id) }));
    show();
  }
  conflicts.hidden = found.length === 0;
  fill(
    conflicts,
    "On call and unavailable: ",
    shifts
      .slice(0, 3)
      .map((c) => `${c.full_name || c.user} (${c.role}, ${span(c.start, c.end, zone.zone())})`)
      .join("; "),
    shifts.length > 3 && ` and ${shifts.length - 3} more`,
    ". ",
    h("a", { href: path`/teams/${team.name}/coverage` }, "Coverage"),
  );
}

function show() {
  const present = [...new Set(state.shifts.map((s) => s.role))].sort(byOrder(roles));
  fill(
    legend,
    h("span", { class: "dim small" }, "Show"),
    present.map((r) =>
      h(
        "label",
        { class: [roleClass(r), "badge", "check"] },
        h("input", { type: "checkbox", checked: !state.hidden.has(r), onchange: (e) => hide(r, !e.target.checked) }),
        h("span", { class: "swatch", "aria-hidden": "true" }, letter(r)),
        r,
      ),
    ),
  );
  legend.hidden = !present.length;
  steps.hidden = steps.dataset.wanted !== "true" || present.length > 0;
  const visible = state.shifts.filter((s) => !state.hidden.has(s.role));
  const known = new Map(team.people.map((p) => [p.name, p]));
  for (const s of visible) if (!known.has(s.user)) known.set(s.user, { name: s.user, full_name: s.full_name });
  calendar.show(visible, [...known.values()], state.marks);
}

function hide(role, hidden) {
  if (hidden) state.hidden.add(role);
  else state.hidden.delete(role);
  remember("hidden", [...state.hidden].join("\n"));
  show();
}

async function reload(quiet) {
  try {
    await Promise.all([load(quiet === true), now.load(), loadRequests()]);
    if (quiet !== true) announce("The calendar was reloaded");
  } catch (e) {
    if (quiet !== true) flash(e.text || String(e), true);
  }
}

async function loadRequests() {
  if (!team.belongs) return;
  let open;
  try {
    open = await openRequests([team.name]);
  } catch (e) {
    flash(e.text || String(e), true); // the calendar is shown without the flags
    return;
  }
  requests.hidden = open.length === 0;
  fill(
    requests,
    h("h2", {}, "Swap requests"),
    requestList(open, { me: page.user, readOnly: page.readOnly, zone: zone.zone(), done: reload }),
  );
}

// atHandOff changes a choice of whole days in the month view to the team's usual hand-off times.
function atHandOff(start, end) {
  const z = zone.zone();
  if (state.view !== "month" || !wall(start, z).endsWith("T00:00:00")) return { start, end };
  const clocks = new Map();
  for (const s of state.shifts)
    if (!s.foreign && s.schedule_id) {
      const c = wall(s.start, z).slice(11);
      clocks.set(c, (clocks.get(c) || 0) + 1);
    }
  const usual = [...clocks].sort((a, b) => b[1] - a[1])[0]?.[0] || "00:00:00";
  const at = (t) => instant(wall(t, z).slice(0, 11) + usual, z);
  return { start: at(start), end: at(end) };
}

async function add(time, user) {
  const hour = Math.floor(Date.now() / 3600000) * 3600;
  const { start, end } = time || { start: hour, end: hour + 86400 };
  const overlapping = time && state.shifts.some((s) => s.id > 0 && !s.foreign && s.role === "primary" && s.start < end && s.end > start);
  const forms = await lazy(() => import("./shiftform.js"));
  const saved = await forms?.addOrReplace({
    team,
    roles,
    shifts: state.shifts,
    zone: zone.zone(),
    start,
    end,
    user,
    replace: Boolean(overlapping),
  });
  calendar.clear();
  if (saved) reload();
}

// move is called after a shift was dragged or resized. A shift that was dropped on another person's shift of the same role can be swapped with it.
async function move(shift, to) {
  const resized = to.end - to.start !== shift.end - shift.start;
  const onto = resized
    ? undefined
    : state.shifts.find(
        (s) =>
          s.id > 0 &&
          s.id !== shift.id &&
          !s.foreign &&
          s.role === shift.role &&
          s.user !== shift.user &&
          (to.user === shift.user || s.user === to.user) &&
          overlap(s, to) * 2 > Math.min(s.end - s.start, to.end - to.start),
      );
  const forms = await lazy(() => import("./shiftform.js"));
  if (await forms?.moved({ team, roles, zone: zone.zone(), shift, to, onto })) reload();
}

const overlap = (a, b) => Math.min(a.end, b.end) - Math.max(a.start, b.start);
