// Gaps in a team's calendar, and how the load is shared.
import { field, fill, flash, h, options, page as read, ready, table } from "./dom.js";
import { path, query, v0, v1 } from "./api.js";
import { loadTeam } from "./rights.js";
import { isAway, roleBadge } from "./roles.js";
import { addOrReplace } from "./shiftform.js";
import { length, span } from "./zone.js";
import { zoneSwitch } from "./zoneswitch.js";

const page = read();
const day = 86400;
let team, roles, zone, ahead, back, role, gaps, shares;

ready(async () => {
  [team, roles] = await Promise.all([loadTeam(page), v0.get("/roles")]);
  roles.sort((a, b) => a.display_order - b.display_order || a.id - b.id);
  zone = zoneSwitch(page, () => load());
  ahead = h(
    "select",
    { onchange: loadGaps },
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
  shares = h("div", { "aria-live": "polite" });
  fill(
    page.el,
    zone.el,
    h("section", { class: "card flush" }, h("div", { class: "row spread card-head" }, h("h2", {}, "Gaps"), field("Ahead", ahead)), gaps),
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
  await load();
});

const load = () => Promise.all([loadGaps(), loadShares()]);
const now = () => Math.floor(Date.now() / 1000);

async function loadGaps() {
  try {
    const found = await v1.get(path`/teams/${team.name}/gaps` + query({ start: now(), end: now() + Number(ahead.value) * day }));
    fill(
      gaps,
      table(
        ["Role", "When", "#Length", ""],
        found.map((g) => [
          roleBadge(g.role),
          span(g.start, g.end, zone.zone()),
          length(g.end - g.start),
          team.mayEdit && h("button", { type: "button", onclick: () => close(g) }, "Fill…"),
        ]),
        "No gap: somebody is on call all the time.",
      ),
    );
  } catch (e) {
    fill(gaps, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

async function close(g) {
  const saved = await addOrReplace({ team, roles, shifts: [], zone: zone.zone(), start: g.start, end: g.end, role: g.role });
  if (!saved) return;
  flash("The gap is filled.");
  load();
}

async function loadShares() {
  try {
    const found = await v1.get(
      path`/teams/${team.name}/fairness` + query({ start: now() - Number(back.value) * day, end: now(), role: role.value }),
    );
    const most = Math.max(1, ...found.map((p) => p.hours));
    fill(
      shares,
      table(
        ["Person", "#Shifts", "#Hours", "#of them at night", "#at weekends", "#on holidays", "Hours"],
        found
          .sort((a, b) => b.hours - a.hours)
          .map((p) => [
            p.full_name || p.user,
            String(p.shifts),
            figure(p.hours),
            figure(p.nights),
            figure(p.weekends),
            figure(p.holidays),
            bar(p.hours / most),
          ]),
        "Nobody was on call in this time.",
      ),
    );
  } catch (e) {
    fill(shares, h("div", { class: "flash bad", role: "alert" }, e.text || String(e)));
  }
}

const figure = (n) => String(Math.round(n * 10) / 10);

function bar(share) {
  return h("meter", { min: 0, max: 1, value: Math.round(share * 100) / 100, "aria-label": Math.round(share * 100) + " % of the most" });
}
