// The dialog in which the reader takes the pager.
import { field, h, options } from "./dom.js";
import { propose } from "./changes.js";
import { isAway } from "./roles.js";
import { moments } from "./shiftform.js";
import { stamp } from "./zone.js";

const hour = 3600;

// takePager puts the reader on call from now until a chosen time.
export async function takePager({ team, roles, zone, page, summary }) {
  const now = Math.floor(Date.now() / 1000);
  const paging = roles.filter((r) => !isAway(r.name));
  const role = h(
    "select",
    { "aria-label": "Role" },
    options(
      paging.map((r) => r.name),
      "primary",
    ),
  );
  const handOff = () => (summary.current[role.value] || [])[0]?.end;
  const choices = () =>
    [
      [now + hour, "for 1 hour"],
      [now + 4 * hour, "for 4 hours"],
      [now + 12 * hour, "for 12 hours"],
      handOff() && [handOff(), `until the hand-off, ${stamp(handOff(), zone)}`],
      ["other", "until another time…"],
    ].filter(Boolean);
  const until = h("select", { "aria-label": "How long" });
  const when = moments(now, now + 4 * hour, zone);
  const [, end] = when.el.children;
  const other = h("div", { hidden: true }, end);
  const refresh = () => {
    const chosen = until.value;
    until.replaceChildren(...options(choices(), chosen || choices()[0][0]));
    other.hidden = until.value !== "other";
  };
  refresh();
  const body = () => ({ role: role.value, until: until.value === "other" ? when.end() : Number(until.value) });
  return propose({
    title: "Take the pager now",
    label: "Take the pager",
    zone,
    ask: () => (body().until > now ? { action: "take", team: team.name, ...body() } : "Choose a time in the future."),
    form: h(
      "div",
      { class: "stack", onchange: refresh },
      h("p", {}, `Pages for the role go to you, ${page.fullName}, as soon as this is saved.`),
      field("Role", role),
      field("How long", until),
      other,
    ),
  });
}
