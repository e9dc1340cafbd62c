// The colour and the initials of a person. internal/web/page/person.go has the same functions; a browser test compares them.
import { h } from "./dom.js";

const colours = 8; // the classes person-0 to person-7

// avatar shows the initials of a person, beside the name. They are no text, so that copied names have none.
export const avatar = (name) => h("span", { class: ["avatar", personClass(name)], "data-initials": initials(name), "aria-hidden": "true" });

// personClass returns the class with the colour of a person, by user name: FNV-1a of its bytes.
export function personClass(name) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return "person-" + (hash % colours);
}

// initials returns the letters of an avatar: those of the first two words of a user name, or its first two letters.
export function initials(name) {
  const words = String(name).split(/[^\p{L}\p{Nd}]+/u).filter(Boolean).map((word) => [...word]);
  if (words.length === 0) return "?";
  return (words.length === 1 ? words[0].slice(0, 2).join("") : words[0][0] + words[1][0]).toUpperCase();
}
