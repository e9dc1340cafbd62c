// Pinned teams, which are first in the list of teams.
import { flash, h, working } from "./dom.js";
import { orNone, path, v0 } from "./api.js";

export const pinned = (user) => orNone(v0.get(path`/users/${user}/pinned_teams`), []);

export async function pin(user, team, on) {
  if (on) await v0.post(path`/users/${user}/pinned_teams`, { team });
  else await orNone(v0.remove(path`/users/${user}/pinned_teams/${team}`));
}

// pinButton returns a button that pins the team of the page.
export function pinButton(page) {
  let on = false;
  const button = h("button", {
    type: "button",
    class: "pin",
    onclick: async () => {
      try {
        await working(button, () => pin(page.user, page.team, !on));
        on = !on;
        show();
      } catch (e) {
        flash(e.text || String(e), true);
      }
    },
  });
  const show = () => {
    button.textContent = on ? "★ Pinned" : "☆ Pin";
    button.setAttribute("aria-pressed", String(on));
  };
  show();
  pinned(page.user).then(
    (names) => {
      on = names.includes(page.team);
      show();
    },
    () => {
      button.hidden = true;
    },
  );
  return button;
}
