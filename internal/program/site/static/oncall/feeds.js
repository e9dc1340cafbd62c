// Calendar feeds: secret addresses to which other calendar programs subscribe. The reader can replace and revoke them.
import { fill, flash, h, working } from "./dom.js";
import { dialog } from "./dialog.js";
import { orNone, path, v0 } from "./api.js";

const address = (key) => location.origin + "/api/v0/ical/" + key;

// openFeed opens the feed of a team (kind "team") or of a person (kind "user").
export async function openFeed(kind, name) {
  const at = kind === "team" ? path`/ical_key/team/${name}` : path`/ical_key/user/${name}`;
  const body = h("div", { class: "stack" });
  const d = dialog({ title: "Calendar feed", body });
  const attempt = async (button, run, text) => {
    try {
      d.fail(null);
      await working(button, run);
      if (text) flash(text);
      await draw();
    } catch (e) {
      d.fail(e);
    }
  };
  async function draw() {
    const key = await orNone(v0.get(at), "");
    const make = h(
      "button",
      { type: "button", class: key ? "" : "primary", onclick: () => attempt(make, () => v0.post(at, {})) },
      key ? "Make a new address" : "Create a feed",
    );
    const revoke =
      key &&
      h(
        "button",
        {
          type: "button",
          class: "danger",
          onclick: () => attempt(revoke, () => v0.remove(at), "The address of the feed no longer works."),
        },
        "Revoke",
      );
    const shown =
      key &&
      h("input", {
        readOnly: true,
        value: address(key),
        "aria-label": "Address of the feed",
        class: "mono",
        onfocus: (e) => e.target.select(),
      });
    const copy =
      key &&
      h(
        "button",
        {
          type: "button",
          onclick: () =>
            navigator.clipboard?.writeText(address(key)).then(
              () => {
                copy.textContent = "Copied";
              },
              () => shown.select(),
            ),
        },
        "Copy",
      );
    fill(
      body,
      h(
        "p",
        {},
        `Subscribe to the shifts of ${name} in another calendar (iCal). Everybody who knows the address can read them. Only you can see this address here; you can revoke it.`,
      ),
      key && h("div", { class: "row nowrap" }, shown, copy),
      h("div", { class: "row dialog-acts" }, make, revoke),
    );
  }
  try {
    await draw();
  } catch (e) {
    d.fail(e);
  }
}
