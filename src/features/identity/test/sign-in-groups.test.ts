/** Groups at the sign-in as providers write them: the right grants, or a refusal that says why. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ProviderConfig } from "../declarations.ts";
import { fetchDocument } from "../fetch-document.ts";
import { Provider } from "../sign-in/provider.ts";
import { Issuer } from "./support/issuer.ts";
import { faultOf } from "./support/load.ts";
import { type Broken, CLIENT, FakeSignIn } from "./support/sign-in.ts";

let issuer: Issuer;
let fake: FakeSignIn;

beforeEach(async () => {
  issuer = await Issuer.start("ES256");
  fake = new FakeSignIn(issuer);
});
afterEach(() => issuer.stop());

const GROUPS = { "llm-admins": { admin: "/" }, "team-*": { member: "/teams/{1}" } };

function providerOf(options: Partial<ProviderConfig>): Provider {
  const provider = {
    ...{ name: "corp", client: CLIENT.id, secret: CLIENT.secret, scopes: ["openid"] },
    options: { issuer: issuer.url, groups: GROUPS, ...options },
  };
  const callback = "http://127.0.0.1/auth/callback/corp";
  return new Provider({ provider, callback, fetchDocument, now: Date.now, fault: () => {} });
}

async function signIn(broken: Broken, options: Partial<ProviderConfig> = {}) {
  const provider = providerOf(options);
  const { location, attempt } = await provider.begin("/console", null);
  return provider.finish(fake.consent(location, broken), attempt);
}

/** What somebody is granted; the reason, if the sign-in is refused. */
async function granted(broken: Broken, options: Partial<ProviderConfig> = {}): Promise<string> {
  try {
    return (await signIn(broken, options)).grants.map(({ role, on }) => `${role} ${on}`).join(", ");
  } catch (cause) {
    return (cause as Error).message;
  }
}

const inIdToken = (groups: unknown) => ({ claims: { groups }, userinfo: { groups: undefined } });
const inUserinfo = (groups: unknown) => ({ userinfo: { groups } });

test("in the userinfo, or in the ID token alone, as Okta's organization server does", async () => {
  expect(await granted(inUserinfo(["team-a", "other"]))).toBe("member /teams/a");
  expect(await granted(inIdToken(["team-a", "other"]))).toBe("member /teams/a");
  // The ID token wins.
  const both = { claims: { groups: ["team-a"] }, userinfo: { groups: ["llm-admins"] } };
  expect(await granted(both)).toBe("member /teams/a");
});

test("as a text with commas, one name, objects with names, under a pointer", async () => {
  expect(await granted(inUserinfo("team-a, team-b,other"))).toBe("member /teams/a, member /teams/b");
  expect(await granted(inUserinfo("llm-admins"))).toBe("admin /");
  expect(await granted(inUserinfo([{ name: "team-a" }, { id: 1 }, 7, null]))).toBe("member /teams/a");
  const nested = { userinfo: { groups: undefined, realm_access: { roles: ["team-c"] } } };
  expect(await granted(nested, { map: { groups: "/realm_access/roles" } })).toBe("member /teams/c");
  expect(await granted(inUserinfo(7))).toContain("its claim groups is neither a list nor a text");
});

test("a name with a comma is one name in a list; names have any letters", async () => {
  const groups = { "team a, b": { viewer: "/a" }, "команда-*": { viewer: "/b" } };
  expect(await granted(inUserinfo(["team a, b", "команда-1"]), { groups })).toBe("viewer /a, viewer /b");
});

test("500 groups: those that are mapped are kept, the others are not stored", async () => {
  const many = Array.from({ length: 500 }, (_, n) => `other-${n}`);
  const person = await signIn(inUserinfo([...many, "team-a", "team-b"]));
  expect(person.grants.map(({ on }) => on)).toEqual(["/teams/a", "/teams/b"]);
  expect(JSON.stringify(person.grants)).not.toContain("other");
  const tooMany = Array.from({ length: 2_001 }, (_, n) => `g${n}`);
  expect(await granted(inUserinfo(tooMany))).toContain("more than 2000 groups");
});

test("a group that was renamed grants nothing more by its name, and the same by its id", async () => {
  expect(await granted(inUserinfo(["squad-a"]))).toBe("");
  const groups = { "0f0e0d0c-0000-4000-8000-000000000001": { member: "/eng" } };
  expect(await granted(inUserinfo(["0f0e0d0c-0000-4000-8000-000000000001"]), { groups })).toBe("member /eng");
});

describe("Entra leaves groups out", () => {
  const OVERAGE: Broken[] = [
    {
      claims: {
        _claim_names: { groups: "src1" },
        _claim_sources: { src1: { endpoint: "https://evil.example" } },
      },
    },
    { claims: { hasgroups: true } },
    { claims: { hasgroups: "true" } },
  ].map((one) => ({ ...one, userinfo: { groups: undefined } }));
  const map = () => ({ graph: issuer.url });

  test.each(OVERAGE)("and the sign-in is refused, with what to do: %o", async (broken) => {
    expect(await granted(broken)).toContain("too many groups: the issuer left out the claim groups");
    expect(issuer.asked.some((path) => path.startsWith("/v1.0"))).toBe(false);
  });

  test.each(OVERAGE)("and Graph has them: %o", async (broken) => {
    const asked: string[] = [];
    fake.graph = (request, { pathname, searchParams }) => {
      const token = request.headers.get("authorization");
      asked.push(`${request.method} ${pathname} ${token}`);
      if (searchParams.get("page") === "2") return Response.json({ value: ["team-b"] });
      const next = `${issuer.url}/v1.0/me/getMemberGroups?page=2`;
      return Response.json({ value: ["team-a", "other"], "@odata.nextLink": next });
    };
    expect(await granted(broken, { map: map() })).toBe("member /teams/a, member /teams/b");
    expect(asked).toEqual([
      "POST /v1.0/me/getMemberGroups Bearer opaque-access",
      "GET /v1.0/me/getMemberGroups Bearer opaque-access",
    ]);
  });

  const REFUSED: readonly [string, () => Response, string][] = [
    ["refuses the token", () => new Response("", { status: 401 }), "Graph answers 401"],
    ["says nothing", () => Response.json({}), "Graph answers 200"],
    ["fails", () => new Response("", { status: 503 }), "Graph answers 503"],
    [
      "names another place",
      () => Response.json({ value: [], "@odata.nextLink": "https://evil.example/v1.0/x" }),
      "a place that is not its own",
    ],
    [
      "does not end",
      () => Response.json({ value: ["a"], "@odata.nextLink": `${issuer.url}/v1.0/me/getMemberGroups` }),
      "more than 2000 groups",
    ],
  ];

  test.each(REFUSED)("and Graph %s: refused, never without groups", async (_, answer, sentence) => {
    fake.graph = answer;
    expect(await granted(OVERAGE[0]!, { map: map() })).toContain(sentence);
  });

  test("Graph is not asked where the claim is there, and where no group is granted anything", async () => {
    fake.graph = () => new Response("", { status: 500 });
    expect(await granted(inUserinfo(["team-a"]), { map: map() })).toBe("member /teams/a");
    expect(await granted(OVERAGE[0]!, { map: map(), groups: {} })).toBe("");
    expect(await granted({ userinfo: { groups: undefined } }, { map: map() })).toBe("");
  });
});

test("prompt: the config says what is asked, a link may say something else", async () => {
  const promptOf = async (asked: string | null, options: Partial<ProviderConfig> = {}) =>
    new URL((await providerOf(options).begin("/console", asked)).location).searchParams.get("prompt");
  expect(await promptOf(null)).toBeNull();
  expect(await promptOf(null, { prompt: "consent" })).toBe("consent");
  expect(await promptOf("login", { prompt: "consent" })).toBe("login");
  expect(await promptOf("<script>", { prompt: "consent" })).toBe("consent");
});

test("the option is for a sign-in, for the claim groups, and for Graph", () => {
  const fault = (map: object, more: object = { client: "x", secret: "y" }) =>
    faultOf({
      url: "https://weir.corp.example",
      providers: { entra: { issuer: "https://login.example/v2.0", map, ...more } },
    });
  for (const graph of [true, false, "https://graph.microsoft.us", "http://127.0.0.1:9"])
    expect(fault({ graph })).toBeUndefined();
  for (const graph of [
    "https://evil.example",
    "http://graph.microsoft.com",
    "https://graph.microsoft.com/v1.0",
    "",
  ])
    expect(fault({ graph })).toContain("graph must be true, or the address of a national cloud");
  expect(fault({ graph: true, groups: "roles" })).toContain("graph is for the claim groups");
  expect(fault({ graph: true }, { audience: "x" })).toContain("graph needs client");
});
