// How roles are shown: a colour that colour-blind people can distinguish (Okabe and Ito), a pattern and a letter.
import { bdi, h, initial } from "./dom.js";

const known = ["primary", "secondary", "shadow", "manager", "vacation", "unavailable"];
const extra = 3; // number of colours for additional roles

// roleClass returns the class of elements of a role.
export function roleClass(role) {
  if (known.includes(role)) return "role role-" + role;
  let sum = 0;
  for (const c of String(role)) sum = (sum * 31 + c.codePointAt(0)) % 9973;
  return "role role-other" + (sum % extra);
}

// letter returns the letter of a role, for places with little room.
export function letter(role) {
  return role === "shadow" ? "Sh" : initial(role);
}

export function roleBadge(role) {
  return h("span", { class: [roleClass(role), "badge"] }, h("span", { class: "swatch", "aria-hidden": "true" }, letter(role)), bdi(role));
}

// unavailable marks a shift during an unavailability of its person.
export const unavailable = "unavailable in this time";

// isAway reports whether a role is an absence.
export const isAway = (role) => role === "vacation" || role === "unavailable";

// byOrder returns a comparison by the order of roles.
export function byOrder(roles) {
  const place = new Map(roles.map((r, i) => [r.name, [r.display_order, i]]));
  return (a, b) => {
    const x = place.get(a) || [99, 0],
      y = place.get(b) || [99, 0];
    return x[0] - y[0] || x[1] - y[1] || (a < b ? -1 : 1);
  };
}

// contact returns the address of a person as a link, if the mode has one.
export function contact(mode, to) {
  if (mode === "email") return h("a", { href: "mailto:" + to }, to);
  if (mode === "call" || mode === "sms") return h("a", { href: (mode === "call" ? "tel:" : "sms:") + to }, to);
  return to;
}
