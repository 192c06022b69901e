/** The commands on people and tokens. */
import { type CommandHead, CONNECT_FLAGS, type Flag, JSON_FLAG, YES_FLAG } from "../../cli/command.ts";

const GRANT: Flag = {
  name: "--grant",
  value: "GRANTS",
  help: "roles on paths: member:/eng,viewer:/ (roles: viewer, member, manager, admin, auditor); none: no grants",
};
const PATH: Flag = { name: "--path", value: "PATH", help: "where its calls are booked" };
const PERSON = { name: "PERSON" };
const COMMON = [JSON_FLAG, ...CONNECT_FLAGS];

type Name = Exclude<keyof typeof import("./cli.ts"), "prototype">;
const code = (name: Name) => async () => (await import("./cli.ts"))[name];

export const peopleCommands: readonly CommandHead[] = [
  {
    name: "people list",
    after: ["keys import", "keys list"],
    summary: "list people and workloads that use tokens; with TEXT, those whose name, address or id has it",
    words: [{ name: "TEXT", optional: true }],
    flags: COMMON,
    run: code("list"),
  },
  {
    name: "people add",
    after: ["people list"],
    summary: "let somebody use models before the first token",
    words: [{ name: "ISSUER" }, { name: "SUBJECT" }],
    flags: [PATH, { name: "--name", value: "NAME", help: "name for people" }, GRANT, ...COMMON],
    run: code("add"),
  },
  {
    name: "people grant",
    after: ["people add"],
    summary: "change the grants by hand of a person, or where its calls are booked",
    words: [PERSON],
    flags: [GRANT, { ...PATH, help: "where its calls are booked; none: as its tokens say" }, ...COMMON],
    run: code("grant"),
  },
  {
    name: "people suspend",
    after: ["people grant"],
    summary: "admit no call of a person any more",
    words: [PERSON],
    flags: [{ name: "--cut", help: "end its running calls, too" }, ...COMMON],
    run: code("suspend"),
  },
  {
    name: "people restore",
    after: ["people suspend"],
    summary: "admit calls of a suspended person again",
    words: [PERSON],
    flags: COMMON,
    run: code("restore"),
  },
  {
    name: "people forget",
    after: ["people restore"],
    summary: "wipe name and address of a person; its calls stay",
    words: [PERSON],
    flags: [YES_FLAG, ...COMMON],
    run: code("forget"),
  },
  {
    name: "login",
    after: ["people forget"],
    summary: "sign in at the gateway at URL as a person, in a browser",
    words: [{ name: "URL" }],
    flags: [{ name: "--scope", value: "SCOPE", help: "only some models: models:gpt-5-mini" }],
    run: async () => (await import("./login/login-cli.ts")).login,
  },
  {
    name: "logout",
    after: ["login"],
    summary: "end that sign-in, and its tokens",
    words: [{ name: "URL" }],
    flags: [],
    run: async () => (await import("./login/login-cli.ts")).logout,
  },
  {
    name: "token",
    after: ["logout"],
    summary:
      "print a token of the gateway at URL: of who is signed in, or for the token of a job or workload",
    words: [{ name: "URL", optional: true }],
    flags: [
      { name: "--file", value: "PATH", help: "file with the token of the workload", completes: "file" },
      { name: "--variable", value: "NAME", help: "variable with the token of the job, as of GitLab" },
      {
        name: "--audience",
        value: "TEXT",
        help: "in a job of GitHub Actions: audience of its token (default weir)",
      },
      { name: "--scope", value: "SCOPE", help: "only some models: models:gpt-5-mini" },
      { name: "--expires", value: "TIME", help: "how long it is valid: 15m (default and most: 1h)" },
      JSON_FLAG,
    ],
    run: () => import("./token-cli.ts"),
  },
  {
    name: "tokens revoke",
    after: ["token"],
    summary: "refuse the tokens of a person that were issued up to now, or one token",
    words: [],
    flags: [
      { name: "--person", value: "PERSON", help: "id, name, address or subject" },
      { name: "--issuer", value: "URL", help: "issuer of one token, as its claim iss has it" },
      { name: "--jti", value: "ID", help: "id of one token, its claim jti" },
      ...COMMON,
    ],
    run: code("revoke"),
  },
];
