// The people of a team: rosters in the order of turns, administrators, and the services of the team.
import { announce, bdi, card, field, fill, flash, h, page as read, ready, removeButton } from "./dom.js";
import { Failure, path, query, v0, v1 } from "./api.js";
import { confirm, form } from "./dialog.js";
import { loadTeam, name } from "./rights.js";
import { sortable } from "./sortable.js";

const page = read();
let team, rosters;
let managed; // names of the members whose membership groups give

ready(load);

async function load() {
  const focused = document.activeElement?.getAttribute("aria-label");
  let known;
  [team, rosters, known] = await Promise.all([
    loadTeam(page),
    v0.get(path`/teams/${page.team}/rosters`),
    v1.get(path`/teams/${page.team}`),
  ]);
  managed = new Set(known.managed_members);
  const detailed = await Promise.all(
    Object.keys(rosters).map((r) => v0.get(path`/teams/${page.team}/rosters/${r}`).then((d) => [r, d.users])),
  );
  const may = team.mayManageRosters;
  fill(
    page.el,
    h(
      "div",
      { class: "row spread" },
      h(
        "p",
        { class: "dim" },
        may ? "Drag people into the order of their turns, or use the arrows." : "People are shown in the order of their turns.",
      ),
      may && h("button", { type: "button", class: "primary", onclick: addRoster }, "Add roster…"),
    ),
    h(
      "div",
      { class: "cards wide" },
      detailed.sort((a, b) => a[0].localeCompare(b[0])).map(([r, users]) => rosterCard(r, users, may)),
      !detailed.length && h("div", { class: "card empty" }, "No roster yet. A roster lists the people who take turns."),
    ),
    h("div", { class: "cards wide" }, adminsCard(may), servicesCard(may), outside(detailed)),
    managed.size > 0 &&
      h(
        "p",
        { class: "dim small" },
        "Managed by groups: groups of the identity provider or directory make these people members of the team. ",
        "Such a membership ends when the person leaves the group, and cannot be removed here.",
      ),
  );
  if (focused) page.el.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus(); // keyboard users continue at the same control
}

// act runs a change and shows the result or the error.
async function act(run, done) {
  try {
    await run();
    await load();
    if (done) announce(done);
  } catch (e) {
    flash(e.text || String(e), true);
    load().catch(() => {}); // shows the stored order again
  }
}

const rosterPath = (r) => path`/teams/${page.team}/rosters/${r}`;

function rosterCard(r, users, may) {
  const ordered = [...users].sort((a, b) => a.roster_priority - b.roster_priority);
  const list = h(
    "ol",
    { class: "plain members", "aria-label": "Members of " + r },
    ordered.map((u) => member(r, u, may)),
  );
  if (may) {
    sortable(list, (order) => act(() => v0.put(rosterPath(r), { roster_order: order }), "The order was saved"));
  }
  return h(
    "section",
    { class: "card roster", data: { roster: r } },
    h(
      "div",
      { class: "row spread" },
      h("h2", { dir: "auto" }, r),
      may &&
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", class: "link", onclick: () => rename(r) }, "Rename"),
          h("button", { type: "button", class: "link bad", onclick: () => drop(r) }, "Delete"),
        ),
    ),
    ordered.length ? list : h("p", { class: "dim" }, "Nobody yet."),
    may && adder("Add a person to " + r, (user) => v0.post(rosterPath(r) + "/users", { name: user })),
  );
}

function member(r, u, may) {
  const person = team.users?.[u.name] || { name: u.name },
    into = !u.in_rotation;
  const reachable = person.contacts && (person.contacts.call || person.contacts.sms);
  return h(
    "li",
    { class: ["member", into && "resting"], data: { key: u.name } },
    may && h("span", { class: "grip", "aria-hidden": "true" }, "⠿"),
    h(
      "div",
      { class: "member-name" },
      h("span", {}, bdi(name(person))),
      " ",
      h("span", { class: "dim small" }, bdi(u.name)),
      into && h("span", { class: "chip" }, "out of rotation"),
      managedMark(u.name),
      team.member &&
        !reachable &&
        h("span", { class: "chip failed", title: "No phone number: calls and texts cannot reach this person" }, "no phone"),
    ),
    may &&
      h(
        "div",
        { class: "member-acts" },
        h("button", { type: "button", class: "small-button move", data: { move: "-1" }, "aria-label": `Move ${name(person)} up` }, "↑"),
        h("button", { type: "button", class: "small-button move", data: { move: "1" }, "aria-label": `Move ${name(person)} down` }, "↓"),
        h(
          "button",
          {
            type: "button",
            class: "small-button",
            onclick: () => act(() => v0.put(rosterPath(r) + path`/users/${u.name}`, { in_rotation: into })),
          },
          into ? "Into rotation" : "Out of rotation",
        ),
        removeButton(`Remove ${name(person)} from ${r}`, () =>
          confirm({
            title: `Remove ${name(person)}`,
            text: `${name(person)} leaves the roster ${r}. Shifts on the calendar stay.`,
            label: "Remove",
            run: () => v0.remove(rosterPath(r) + path`/users/${u.name}`),
          }).then((done) => done && act(async () => {}, "Removed"))),
      ),
  );
}

// managedMark marks a member whose membership groups give; false = the membership was made by hand.
const managedMark = (user) => managed.has(user) && h("span", { class: "chip managed" }, "managed by groups");

// adder returns a form that adds a person. It completes names.
function adder(label, add) {
  const id = "people-" + Math.random().toString(36).slice(2);
  const list = h("datalist", { id }),
    input = h("input", { list: id, "aria-label": label, placeholder: "Name of a person", autocomplete: "off", required: true });
  input.addEventListener("input", async () => {
    if (input.value.length < 1) return;
    try {
      const found = await v0.get("/search" + query({ keyword: input.value, fields: "users" }));
      fill(
        list,
        (found.users || []).slice(0, 20).map((u) => h("option", { value: u.name }, u.full_name)),
      );
    } catch {
      /* the name can be typed in full */
    }
  });
  return h(
    "form",
    {
      class: "row nowrap adder",
      onsubmit: (e) => {
        e.preventDefault();
        act(() => add(input.value.trim()));
      },
    },
    input,
    list,
    h("button", {}, "Add"),
  );
}

function adminsCard(may) {
  const admins = team.admins;
  return card(
    "Administrators",
    h(
      "ul",
      { class: "plain" },
      admins.map((a) =>
        h(
          "li",
          { class: "row nowrap spread" },
          h("span", {}, bdi(team.users?.[a] ? name(team.users[a]) : a)),
          may &&
            removeButton("Remove administrator " + a, () =>
              confirm({
                title: "Remove administrator",
                text: `${a} will no longer be able to change rosters and schedules.`,
                label: "Remove",
                run: () => v0.remove(path`/teams/${page.team}/admins/${a}`),
              }).then((done) => done && act(async () => {}))),
        ),
      ),
    ),
    may && adder("Add an administrator", (user) => v0.post(path`/teams/${page.team}/admins`, { name: user })),
  );
}

function servicesCard(may) {
  const services = team.services || [];
  const input = h("input", { "aria-label": "Add a service", placeholder: "Name of a service", required: true });
  return card(
    "Services",
    services.length
      ? h(
          "ul",
          { class: "plain" },
          services.map((s) =>
            h(
              "li",
              { class: "row nowrap spread" },
              h("span", {}, bdi(s)),
              may &&
                removeButton("Remove service " + s, () => act(() => v0.remove(path`/teams/${page.team}/services/${s}`))),
            ),
          ),
        )
      : h("p", { class: "dim" }, "No services."),
    may &&
      h(
        "form",
        {
          class: "row nowrap adder",
          onsubmit: (e) => {
            e.preventDefault();
            act(() => claim(input.value.trim()));
          },
        },
        input,
        h("button", {}, "Add"),
      ),
  );
}

// claim makes the team responsible for a service. It creates an unknown service, which only administrators of Iris may do.
async function claim(service) {
  const ask = () => v0.post(path`/teams/${page.team}/services`, { name: service });
  try {
    await ask();
  } catch (e) {
    if (!/not found$/.test(e.text)) throw e;
    if (!page.admin) throw new Failure(e.status, `There is no service ${service}: ask an administrator of Iris to add it`);
    await v0.post("/services", { name: service });
    await ask();
  }
}

// outside returns a card with the members who are in no roster.
function outside(detailed) {
  const inside = new Set(detailed.flatMap(([, users]) => users.map((u) => u.name)));
  const others = team.people.filter((p) => !inside.has(p.name));
  return (
    others.length > 0 &&
    card(
      "Members in no roster",
      h(
        "ul",
        { class: "plain" },
        others.map((p) => h("li", {}, bdi(name(p)), " ", h("span", { class: "dim small" }, bdi(p.name)), " ", managedMark(p.name))),
      ),
    )
  );
}

async function addRoster() {
  if (
    await form({
      title: "Add roster",
      label: "Add",
      fields: field("Name", h("input", { name: "name", required: true, maxlength: 255 })),
      save: (f) => v0.post(path`/teams/${page.team}/rosters`, { name: f.name.value.trim() }),
    })
  )
    act(async () => {});
}

async function rename(r) {
  if (
    await form({
      title: "Rename roster",
      fields: field("Name", h("input", { name: "name", required: true, value: r, maxlength: 255 })),
      save: (f) => v0.put(rosterPath(r), { name: f.name.value.trim() }),
    })
  )
    act(async () => {});
}

async function drop(r) {
  if (
    await confirm({
      title: "Delete roster " + r,
      text: "Its schedules are also deleted. Shifts on the calendar stay.",
      label: "Delete",
      run: () => v0.remove(rosterPath(r)),
    })
  )
    act(async () => {});
}
