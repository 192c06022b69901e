/** `weir people …` and `weir tokens revoke`: people and workloads with tokens. */
import { type BookContext, runConnected } from "../../cli/books/command.ts";
import { textOf } from "../../cli/books/values.ts";
import { type Command, type Context, UsageError } from "../../cli/command.ts";
import { confirmed } from "../../cli/confirm.ts";
import { table } from "../../cli/terminal.ts";
import { pathFault } from "../../ledger/keys/path.ts";
import type { Person, PersonPage } from "./contracts.ts";
import { type Role, ROLES } from "./groups.ts";

type Run = Pick<Command, "run">;

const command = (run: (context: BookContext) => Promise<void>, asks?: (context: Context) => string): Run => ({
  async run(context) {
    if (asks && !(await confirmed(asks(context), context.flags))) {
      context.printError("weir: nothing was changed");
      return 1;
    }
    return runConnected(context, run);
  },
});

export const list = command(async ({ api, words: [q], show }) => {
  const people: Person[] = [];
  let after: string | undefined;
  do {
    const page: PersonPage = await api.send("GET", "/people", { query: { limit: 500, after, q } });
    people.push(...page.people);
    after = page.next;
  } while (after !== undefined);
  show({ people }, () => {
    if (people.length === 0) return "no people";
    const rows = people.map(({ id, name, email, path, status, grants, issuer }) => [
      ...[name || "(forgotten)", email ?? "", path, status],
      ...[grants.map(({ role, on }) => `${role} on ${on}`).join(", "), issuer, id],
    ]);
    return table([["NAME", "EMAIL", "PATH", "STATUS", "GRANTS", "ISSUER", "ID"], ...rows]);
  });
});

export const add = command(async ({ api, words: [issuer = "", subject = ""], flags, show }) => {
  const path = textOf(flags, "--path");
  const name = textOf(flags, "--name");
  if (path === undefined)
    throw new UsageError("people add needs the path of the person: --path /people/alice");
  const grants = grantsOf(textOf(flags, "--grant") ?? `member:${path}`);
  const body = { issuer, subject, path, grants, ...(name !== undefined && { name }) };
  const person = await api.send<Person>("POST", "/people", { body });
  show(person, () => `${person.id} may use models at ${person.path}`);
});

export const grant = command(async ({ api, words: [who = ""], flags, show }) => {
  const wanted = textOf(flags, "--grant");
  const path = textOf(flags, "--path");
  if (wanted === undefined && path === undefined)
    throw new UsageError("people grant needs --grant or --path");
  const body = {
    ...(wanted !== undefined && { grants: grantsOf(wanted) }),
    ...(path !== undefined && { path: path === "none" ? null : path }),
  };
  const person = await api.send<Person>("PATCH", personPath(who), { body });
  show(person, () => {
    const grants = person.grants.map(({ role, on }) => `${role} on ${on}`).join(", ");
    return `${titleOf(person)}: ${grants || "no grants"}, at ${person.path}`;
  });
});

export const suspend = command(async ({ api, words: [who = ""], flags, show }) => {
  const body = { status: "suspended", cut: flags["--cut"] === true };
  const person = await api.send<Person>("PATCH", personPath(who), { body });
  show(person, () => `${titleOf(person)} is suspended: no call of it is admitted any more`);
});

export const restore = command(async ({ api, words: [who = ""], show }) => {
  const person = await api.send<Person>("PATCH", personPath(who), { body: { status: "active" } });
  show(person, () => `${titleOf(person)} is active`);
});

export const forget = command(
  async ({ api, words: [who = ""], show }) => {
    const person = await api.send<Person>("POST", `${personPath(who)}/forget`);
    show(person, () => `${person.id} is forgotten; its calls stay`);
  },
  ({ words: [who = ""] }) => `Forget name and address of ${who}?`,
);

export const revoke = command(async ({ api, flags, show }) => {
  const [who, issuer, jti] = ["--person", "--issuer", "--jti"].map((name) => textOf(flags, name));
  if (who !== undefined && issuer === undefined && jti === undefined) {
    const person = await api.send<Person>("PATCH", personPath(who), { body: { revokeTokens: true } });
    return show(person, () => `the tokens of ${titleOf(person)} that were issued up to now are refused`);
  }
  if (issuer === undefined || jti === undefined || who !== undefined)
    throw new UsageError("tokens revoke needs --person PERSON, or --issuer URL and --jti ID");
  const revoked = await api.send<{ id: string }>("POST", "/tokens/revoke", { body: { issuer, jti } });
  show(revoked, () => "the token is refused from now on");
});

const personPath = (who: string) => `/people/${encodeURIComponent(who)}`;
const titleOf = ({ id, name }: Person) => (name === "" ? id : `${name} (${id})`);

/** `member:/eng,viewer:/`; `none`: no grants. @throws UsageError */
function grantsOf(text: string): { role: Role; on: string }[] {
  if (text === "none") return [];
  return text.split(",").map((one) => {
    const [role = "", on = ""] = one.trim().split(":");
    if (!(ROLES as readonly string[]).includes(role))
      throw new UsageError(
        `a grant is written ROLE:PATH, with a role of ${ROLES.join(", ")}; "${one}" is none`,
      );
    const fault = pathFault(on);
    if (fault !== undefined) throw new UsageError(`the path of the grant "${one}" ${fault}`);
    return { role: role as Role, on };
  });
}
