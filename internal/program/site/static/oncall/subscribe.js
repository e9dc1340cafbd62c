// Subscriptions of calendars of other programs: a team's shifts and holidays, and the reader's unavailability. The server reads each from
// its URL every hour. The URL is never shown again. The holidays of a country have no URL: the server knows them.
import { bdi, card, field, fill, flash, h, leftOut, options, removeButton, working } from "./dom.js";
import { path, seconds, v1 } from "./api.js";
import { confirm, form } from "./dialog.js";
import { roleBadge } from "./roles.js";
import { away } from "./zone.js";

const states = { waiting: ["", "waiting"], current: ["good", "up to date"], failing: ["bad", "cannot be read"] };
const kinds = { shifts: "shifts", holidays: "holidays", unavailability: "times" };
const soon = 2000; // milliseconds

// subscriptionCard lists the subscriptions at a path of the API. With roles they are those of a team. changed is called when a calendar has
// been read.
export function subscriptionCard({ title, text, at, roles, mayChange, changed }) {
  const list = h("div", { "aria-live": "polite" }, h("p", { class: "dim" }, "…"));
  let lastRead = "",
    timer;
  const attempt = async (run) => {
    try {
      await run();
      await load();
    } catch (e) {
      flash(e.text || String(e), true);
    }
  };

  async function load() {
    clearTimeout(timer);
    const all = await v1.list(at);
    const read = JSON.stringify(all.map((s) => [s.id, s.read_at]));
    if (lastRead && lastRead !== read) changed?.();
    lastRead = read;
    fill(list, all.length ? h("ul", { class: "plain" }, all.map(row)) : h("p", { class: "dim" }, "None."));
    const due = all.some((s) => s.state === "waiting" || Date.parse(s.next_read_at) <= Date.now());
    if (due && list.isConnected) timer = setTimeout(() => load().catch(() => {}), soon);
  }

  function row(s) {
    const [kind, word] = states[s.state];
    const refresh = h("button", { type: "button", class: "link", onclick: () => working(refresh, () => attempt(() => v1.post(path`/calendar-subscriptions/${s.id}/refresh`))) }, "Read now");
    return h(
      "li",
      { class: "row nowrap spread" },
      h(
        "div",
        { class: "wraps" },
        h("div", {}, bdi(s.name), " ", h("span", { class: ["chip", kind] }, word), s.role && [" ", roleBadge(s.role)], s.kind === "holidays" && h("span", { class: "dim" }, " holidays")),
        h(
          "div",
          { class: "dim small" },
          s.host && s.name !== s.host && [bdi(s.host), " · "],
          s.country && [s.country, " · "],
          s.read_at ? `${s.events} ${kinds[s.kind]}, read ${away(seconds(s.read_at))}` : "not read yet",
          s.kind === "unavailability" && (s.whole_days ? " · only all-day events" : " · all busy events"),
          mayChange && [" · ", refresh, " · ", h("button", { type: "button", class: "link", onclick: () => attempt(() => edit(s)) }, "Change…")],
        ),
        s.problem && h("div", { class: "bad small", dir: "auto" }, s.problem, s.read_at && ". The results of the last successful reading stay in use."),
        leftOut(s.left_out),
      ),
      mayChange && removeButton("Remove: " + s.name, () => remove(s)),
    );
  }

  async function remove(s) {
    const what = { shifts: "Its future shifts are removed, except those that were changed by hand.", holidays: "The holidays of the team are removed.", unavailability: "The unavailability from this calendar is removed." }[s.kind];
    if (await confirm({ title: "Remove the subscription", text: what, label: "Remove", run: () => v1.remove(path`/calendar-subscriptions/${s.id}`) })) {
      await attempt(() => {});
      changed?.();
    }
  }

  // edit asks for a new subscription, or for changes of one.
  async function edit(s) {
    const ofCountry = () => (s ? !!s.country : kind?.value === "country");
    const url = h("input", { name: "url", type: "text", inputmode: "url", required: !s, maxlength: 2000, placeholder: "https://calendar.example.com/team.ics", autocomplete: "off", spellcheck: "false" });
    const name = h("input", { name: "name", maxlength: 100, value: s?.name || "" });
    const days = h("input", { type: "checkbox", name: "whole_days", checked: s ? s.whole_days : true });
    const role = roles && h("select", { name: "role" }, options(roles));
    const kind =
      roles &&
      h(
        "select",
        { name: "kind", onchange: () => choose() },
        options([
          ["shifts", "shifts"],
          ["holidays", "holidays"],
          ["country", "the holidays of a country"],
        ]),
      );
    const countries = roles ? await v1.list("/holiday-countries") : [];
    const country =
      roles &&
      h(
        "select",
        { name: "country" },
        options(
          countries.map((c) => [c.code, c.name]),
          s?.country,
        ),
      );
    const countryField = roles && field("Country", country, "A part of a country is called by its code of ISO 3166.");
    const urlField = field("Address (iCalendar)", url, s ? `Leave it empty to keep the address at ${s.host}.` : "It begins with https:// or webcal://. It is stored encrypted. Later, only its host is shown.");
    const roleField = roles && field("Role of the shifts", role, "An event must name a person of the team, or invite the person by e-mail.");
    const choose = () => {
      urlField.hidden = url.disabled = ofCountry();
      if (!roles) return;
      countryField.hidden = !ofCountry();
      roleField.hidden = kind.value !== "shifts";
    };
    choose();
    const body = () => ({
      ...(ofCountry() ? { country: country.value } : url.value.trim() && { url: url.value.trim() }),
      ...(name.value.trim() && name.value.trim() !== s?.name && { name: name.value.trim() }),
      ...(roles ? !s && { kind: kind.value === "shifts" ? "shifts" : "holidays", ...(kind.value === "shifts" && { role: role.value }) } : { whole_days: days.checked }),
    });
    const saved = await form({
      title: s ? "Change the subscription" : "Subscribe to a calendar",
      label: s ? "Save" : "Subscribe",
      fields: [
        !s && roles && field("Its events are", kind),
        urlField,
        countryField,
        field("Name", name, "If it is empty, the host of the address or the country is used."),
        !s && roles && roleField,
        !roles && h("label", { class: "check" }, days, h("span", {}, "Use only all-day events, such as holidays. Otherwise, all events are used that are not marked as free.")),
      ],
      save: () => (s ? v1.put(path`/calendar-subscriptions/${s.id}`, body()) : v1.post(at, body())),
    });
    if (saved) flash(s ? "The subscription was changed." : "The calendar is being read.");
  }

  load().catch((e) => fill(list, h("div", { class: "flash bad", role: "alert" }, e.text || String(e))));
  return card(title, h("p", { class: "dim small" }, text), list, mayChange && h("button", { type: "button", onclick: () => attempt(() => edit()) }, "Subscribe…"));
}
