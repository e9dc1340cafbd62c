// The Escalate button: opens an incident with the plan of the team, or with a plan of the site.
import { field, flash, h, options } from "./dom.js";
import { path, v0 } from "./api.js";
import { form } from "./dialog.js";

// escalateButton adds the button to place, if the team has it switched on and there is a plan for it.
export function escalateButton(team, place) {
  if (!team.iris_enabled || !team.member) return;
  v0.get("/iris_settings").then(
    (s) => {
      if (!s.activated) return;
      const plans = [
        team.iris_plan && ["custom", `${team.iris_plan} (the team's plan)`],
        s.medium_plan && ["medium", "medium"],
        s.urgent_plan && ["urgent", "urgent"],
      ].filter(Boolean);
      if (plans.length) place.append(h("button", { type: "button", class: "danger", onclick: () => escalate(team, plans) }, "Escalate…"));
    },
    () => {
      /* without the settings there is no button */
    },
  );
}

async function escalate(team, plans) {
  let id;
  const sent = await form({
    title: "Escalate to " + team.name,
    label: "Page them",
    fields: [
      field("Plan", h("select", { name: "plan" }, options(plans))),
      field("What is wrong", h("textarea", { name: "description", rows: 3, required: true })),
    ],
    save: async (f) => {
      id = await v0.post(path`/teams/${team.name}/iris_escalate`, { plan: f.plan.value, description: f.description.value });
    },
  });
  if (sent) flash(h("span", {}, "Paging: ", h("a", { href: path`/incidents/${String(id)}` }, "incident " + id)));
}
