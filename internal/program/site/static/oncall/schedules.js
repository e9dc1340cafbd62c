// The schedules and rotations of a team.
import { announce, bdi, fill, h, lazy, page as read, ready } from "./dom.js";
import { algorithms } from "./algorithms.js";
import { path, v0, v1 } from "./api.js";
import { confirm } from "./dialog.js";
import { describe as describeLayer } from "./layers.js";
import { describe } from "./pattern.js";
import { loadTeam } from "./rights.js";
import { roleBadge } from "./roles.js";

const page = read();
const forms = (use) => lazy(() => import("./scheduleform.js")).then((m) => m && use(m));
let team, roles, rosters, schedules, rotations;

ready(load);

async function load() {
  [team, roles, rosters, rotations] = await Promise.all([
    loadTeam(page),
    v0.get("/roles"),
    v0.get(path`/teams/${page.team}/rosters`),
    v1.list(path`/teams/${page.team}/rotations`),
  ]);
  roles.sort((a, b) => a.display_order - b.display_order || a.id - b.id);
  const own = new Set(rotations.map((r) => r.id));
  schedules = unique(Object.values(rosters).flatMap((r) => r.schedules || [])).filter((s) => !own.has(s.id));
  const may = team.mayManage,
    context = { team, roles, rosters, page, done: load };
  const none = Object.keys(rosters).length === 0;
  fill(
    page.el,
    h(
      "div",
      { class: "row spread" },
      h(
        "p",
        { class: "dim" },
        "Schedules put shifts on the calendar, as many days ahead as configured. Times are in the team's zone: ",
        page.teamZone.replaceAll("_", " "),
        ".",
      ),
      may &&
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", class: "primary", disabled: none, onclick: () => forms((f) => f.rotationForm(context)) }, "Add rotation…"),
          h("button", { type: "button", disabled: none, onclick: () => forms((f) => f.scheduleForm(context)) }, "Add weekly schedule…"),
          h("button", { type: "button", onclick: () => lazy(() => import("./import.js")).then((m) => m?.importCalendar(context)) }, "Import a calendar…"),
        ),
    ),
    none &&
      h(
        "div",
        { class: "flash" },
        "Add a roster first: schedules choose people from a roster. ",
        h("a", { href: path`/teams/${page.team}/rosters` }, "Rosters"),
      ),
    h(
      "div",
      { class: "cards wide" },
      rotations.map((r) => rotationCard(r, may, context)),
      schedules.map((s) => scheduleCard(s, may, context)),
      !schedules.length && !rotations.length && h("div", { class: "card empty" }, "No schedule yet."),
    ),
  );
}

const unique = (list) => [...new Map(list.map((s) => [s.id, s])).values()].sort((a, b) => a.id - b.id);

function acts(id, edit, remove) {
  return h(
    "div",
    { class: "row" },
    h(
      "button",
      { type: "button", onclick: () => lazy(() => import("./populate.js")).then((m) => m?.populate({ id, team, page, done: load })) },
      "Preview and populate…",
    ),
    h("button", { type: "button", onclick: edit }, "Edit"),
    h("button", { type: "button", class: "danger", onclick: remove }, "Delete"),
  );
}

async function drop(what, run) {
  if (!(await confirm({ title: "Delete " + what, text: "It adds no more shifts to the calendar. Shifts that are on the calendar stay.", label: "Delete", run })))
    return;
  announce("Deleted");
  load();
}

function scheduleCard(s, may, context) {
  const algorithm = algorithms.find((a) => a.name === s.scheduler?.name);
  return h(
    "section",
    { class: "card schedule", data: { schedule: s.id } },
    h("div", { class: "row" }, roleBadge(s.role), h("strong", {}, bdi(s.roster)), h("span", { class: "dim small" }, "#" + s.id)),
    h(
      "dl",
      { class: "facts" },
      h("dt", {}, "Pattern"),
      h("dd", {}, describe(s.events)),
      h("dt", {}, "Chooses"),
      h("dd", {}, algorithm?.label || s.scheduler?.name),
      s.scheduler?.data?.length > 0 &&
        s.scheduler.name === "round-robin" && [h("dt", {}, "Order"), h("dd", {}, s.scheduler.data.map((u, i) => [i > 0 && " → ", bdi(u)]))],
      h("dt", {}, "Ahead"),
      h("dd", {}, s.auto_populate_threshold + " days"),
    ),
    may &&
      acts(
        s.id,
        () => forms((f) => f.scheduleForm({ ...context, schedule: s })),
        () => drop("schedule", () => v0.remove(path`/schedules/${s.id}`)),
      ),
  );
}

function rotationCard(r, may, context) {
  return h(
    "section",
    { class: "card schedule", data: { rotation: r.id } },
    h(
      "div",
      { class: "row" },
      roleBadge(r.role),
      h("strong", {}, bdi(r.name || r.roster)),
      h("span", { class: "dim small" }, (r.name ? r.roster + ", " : "") + "rotation #" + r.id),
    ),
    h(
      "dl",
      { class: "facts" },
      r.layers.map((l, i) => [
        h("dt", {}, l.name || "Layer " + (i + 1)),
        h("dd", {}, describeLayer(l), h("div", { class: "dim small" }, l.members.map((m, i) => [i > 0 && " → ", bdi(m.user)]))),
      ]),
      h("dt", {}, "Ahead"),
      h("dd", {}, r.auto_populate_threshold + " days"),
    ),
    may &&
      acts(
        r.id,
        () => forms((f) => f.rotationForm({ ...context, rotation: r })),
        () => drop("rotation", () => v1.remove(path`/rotations/${r.id}`)),
      ),
  );
}
