// The form in which the reader asks others to take a shift.
import { field, flash, h, options } from "./dom.js";
import { path, v1 } from "./api.js";
import { form } from "./dialog.js";
import { upcoming, worded } from "./requests.js";
import { name } from "./rights.js";

// requestSwap asks one colleague, or everybody in the team.
export async function requestSwap({ shift, zone, team }) {
  let list;
  try {
    list = (await upcoming(team.name)).filter((s) => s.start > Date.now() / 1000);
  } catch (e) {
    flash(e.text || String(e), true);
    return false;
  }
  const to = h(
    "select",
    { "aria-label": "Whom" },
    h("option", { value: "" }, "Everybody: the first person to accept gets it"),
    options(team.people.filter((p) => p.name !== shift.user).map((p) => [p.name, name(p)])),
  );
  const take = h("select", { "aria-label": "In exchange for" });
  const refresh = () =>
    take.replaceChildren(
      h("option", { value: "" }, "Nothing"),
      ...options(list.filter((s) => s.user === to.value).map((s) => [s.id, worded(s, zone)])),
    );
  to.addEventListener("change", refresh);
  refresh();
  const note = h("input", { maxlength: 1000 });
  const sent = await form({
    title: "Ask for a swap",
    label: "Ask",
    fields: [
      h("p", {}, "Yours: " + worded(shift, zone)),
      field("Whom", to),
      field("In exchange for", take, "Nothing changes until the other person accepts."),
      field("Message", note),
    ],
    save: () =>
      v1.post(path`/teams/${team.name}/swap-requests`, {
        ...(to.value && { to: to.value }),
        give: [shift.id],
        take: take.value ? [Number(take.value)] : [],
        note: note.value,
      }),
  });
  if (sent) flash(to.value ? "The request was sent, and the person is notified. You see it here and under My shifts." : "The request was sent, and the team is notified. You see it here and under My shifts.");
  return sent;
}
