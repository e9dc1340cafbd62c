// The settings, subscriptions and holidays of a team.
import { card, field, fill, flash, h, options, page as read, ready, removeButton, working } from "./dom.js";
import { path, v0, v1 } from "./api.js";
import { confirm } from "./dialog.js";
import { holidayCard } from "./holidays.js";
import { loadTeam } from "./rights.js";
import { isAway, roleBadge } from "./roles.js";
import { subscriptionCard } from "./subscribe.js";
import { zones } from "./zone.js";

const page = read();
let team, roles, subscriptions, names, holidays;

ready(load);

async function load() {
  [team, roles, subscriptions, names] = await Promise.all([
    loadTeam(page),
    v0.get("/roles"),
    v1.list(path`/teams/${page.team}/subscriptions`),
    v0.get("/teams"),
  ]);
  fill(
    page.el,
    h(
      "div",
      { class: "cards wide" },
      settingsCard(),
      h("div", { class: "page" }, subscriptionsCard(), calendarsCard(), (holidays = h("div", {}, holidayCard(team))), team.mayManage && dangerCard()),
    ),
  );
}

// textFields are the settings with plain text: name, label, type, hint.
const textFields = [
  ["email", "E-mail", "email"],
  ["slack_channel", "Slack channel", "text"],
  ["slack_channel_notifications", "Slack channel for notifications", "text"],
  [
    "override_phone_number",
    "Override phone number",
    "tel",
    "Programs that call the primary get this number from the API. Iris itself uses the contacts of the person.",
  ],
  ["iris_plan", "Escalation plan", "text", "The plan that the Escalate button offers first."],
  ["description", "Description", "text"],
];

function settingsCard() {
  if (!team.mayManage) {
    const known = [
      ["Time zone", team.scheduling_timezone],
      ...textFields.filter(([key]) => team[key]).map(([key, label]) => [label, team[key]]),
    ];
    return card(
      "Settings",
      h(
        "dl",
        { class: "facts" },
        known.map(([k, v]) => [h("dt", {}, k), h("dd", {}, v)]),
      ),
      h("p", { class: "dim small" }, "Administrators of the team can change the settings."),
    );
  }
  const zone = h("select", { name: "scheduling_timezone" }, options(zones(team.scheduling_timezone), team.scheduling_timezone));
  const escalate = h("input", { type: "checkbox", name: "iris_enabled", checked: Boolean(team.iris_enabled) });
  const managed = h("input", { type: "checkbox", name: "api_managed_roster", checked: Boolean(team.api_managed_roster) });
  const button = h("button", { class: "primary" }, "Save");
  return card(
    "Settings",
    h(
      "form",
      {
        class: "stack",
        onsubmit: (e) => {
          e.preventDefault();
          working(button, () => save(e.target));
        },
      },
      field("Name", h("input", { name: "name", value: team.name, required: true, maxlength: 255 })),
      field(
        "Time zone",
        zone,
        "Hand-offs happen at the wall-clock times of this zone. A change does not move shifts that are on the calendar.",
      ),
      textFields.map(([key, label, type, hint]) => field(label, h("input", { name: key, type, value: team[key] || "" }), hint)),
      h("label", { class: "check" }, escalate, h("span", {}, "Show the Escalate button (it also needs the setting oncall.escalate_application)")),
      h(
        "label",
        { class: "check" },
        managed,
        h("span", {}, "A program manages the rosters: only administrators of Iris may change them here"),
      ),
      button,
    ),
  );
}

async function save(form) {
  const f = form.elements,
    changes = {};
  for (const key of ["name", "scheduling_timezone", ...textFields.map(([k]) => k)])
    if (f[key].value !== (team[key] || "")) changes[key] = f[key].value;
  for (const key of ["iris_enabled", "api_managed_roster"]) if (f[key].checked !== Boolean(team[key])) changes[key] = f[key].checked;
  if (!Object.keys(changes).length) return flash("Nothing was changed.");
  try {
    await v0.put(path`/teams/${team.name}`, changes);
    if (changes.name) return location.assign(path`/teams/${changes.name}/settings`);
    await load();
    flash("The settings were saved.");
  } catch (e) {
    flash(e.text || String(e), true);
  }
}

// act runs a change and shows the result or the error.
async function act(run) {
  try {
    await run();
    await load();
  } catch (e) {
    flash(e.text || String(e), true);
  }
}

function subscriptionsCard() {
  const role = h("select", { "aria-label": "Role" }, options(roles.map((r) => r.name))),
    other = h("select", { "aria-label": "Team" }, options(names.filter((n) => n !== team.name)));
  return card(
    "Subscriptions",
    h("p", { class: "dim small" }, "Shifts of other teams that count on this calendar: they are shown here, and their people are paged."),
    h(
      "ul",
      { class: "plain" },
      subscriptions.map((s) =>
        h(
          "li",
          { class: "row nowrap spread" },
          h("span", {}, roleBadge(s.role), " of ", h("a", { href: path`/teams/${s.team}` }, s.team)),
          team.mayManage &&
            removeButton(`Remove ${s.role} of ${s.team}`, () => act(() => v1.remove(path`/teams/${team.name}/subscriptions/${s.team}/${s.role}`))),
        ),
      ),
    ),
    !subscriptions.length && h("p", { class: "dim" }, "None."),
    team.mayManage &&
      names.length > 1 &&
      h(
        "form",
        {
          class: "row adder",
          onsubmit: (e) => {
            e.preventDefault();
            act(() => v1.put(path`/teams/${team.name}/subscriptions/${other.value}/${role.value}`));
          },
        },
        "Add",
        role,
        "of",
        other,
        h("button", {}, "Add"),
      ),
  );
}

// calendarsCard lists the external calendars that fill this one.
function calendarsCard() {
  return subscriptionCard({
    title: "Calendars of other programs",
    text: "Shifts or holidays from calendars of other programs, or the holidays of a country. Iris reads them every hour. It does not overwrite a shift that somebody changed by hand.",
    at: path`/teams/${team.name}/calendar-subscriptions`,
    roles: roles.map((r) => r.name).filter((name) => !isAway(name)),
    mayChange: team.mayManage,
    changed: () => fill(holidays, holidayCard(team)),
  });
}

// deleteTeam asks for confirmation. It asks again if something uses the team.
async function deleteTeam() {
  const at = path`/teams/${team.name}`;
  let uses = null;
  const sure = await confirm({
    title: "Delete " + team.name,
    text: "Plans that page this team will reach nobody in it.",
    label: "Delete the team",
    run: async () => {
      try {
        await v1.remove(at);
      } catch (e) {
        if (e.status !== 409) throw e;
        uses = e.text;
      }
    },
  });
  const gone =
    sure &&
    (!uses ||
      (await confirm({
        title: team.name + " is in use",
        text: uses,
        label: "Delete it anyway",
        run: () => v1.remove(at + "?force=true"),
      })));
  if (gone) location.assign("/teams");
}

function dangerCard() {
  return card(
    "Delete team",
    h("p", { class: "dim small" }, "Future shifts are deleted; past ones stay. The name can be used again at once."),
    h(
      "button",
      {
        type: "button",
        class: "danger",
        onclick: deleteTeam,
      },
      "Delete the team…",
    ),
  );
}
