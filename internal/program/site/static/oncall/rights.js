// Permissions of the reader. The server enforces them; the pages hide controls that the server would refuse.
import { path, v0 } from "./api.js";
import { look } from "./recent.js";

// loadTeam reads a team and what the reader may do with it.
export async function loadTeam(page) {
  const team = await v0.get(path`/teams/${page.team}`);
  look(team.name);
  const admins = (team.admins || []).map((a) => a.name);
  const has = (names) => names.some((n) => n.toLowerCase() === page.user.toLowerCase());
  const member = has(Object.keys(team.users || {})) || has(admins);
  return {
    ...team,
    admins,
    people: Object.values(team.users || {}).sort((a, b) => name(a).localeCompare(name(b))),
    member: member || page.admin,
    belongs: member,
    mayEdit: !page.readOnly && (member || page.admin),
    mayManage: !page.readOnly && (has(admins) || page.admin),
    mayManageRosters: !page.readOnly && (page.admin || (has(admins) && !team.api_managed_roster)),
  };
}

export const name = (u) => u.full_name || u.name;
