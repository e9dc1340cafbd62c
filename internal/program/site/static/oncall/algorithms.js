// The ways in which a weekly schedule chooses people.
export const algorithms = [
  {
    name: "default",
    label: "Default",
    text: "Chooses the person who was on call in this role longest ago, new people first. Skips people who are away or have another shift. Keeps shifts that are already on the calendar.",
  },
  {
    name: "round-robin",
    label: "Round-robin",
    text: "Follows a fixed order and ignores everything else on the calendar, vacations included.",
  },
  {
    name: "no-skip-matching",
    label: "Default (allow duplicate)",
    text: "As Default, but fills a time even if somebody already has exactly that shift. For several people at once.",
  },
  {
    name: "multi-team",
    label: "Default (multi-team aware)",
    text: "As Default (allow duplicate), but a shift in any other team also counts as busy.",
  },
];
