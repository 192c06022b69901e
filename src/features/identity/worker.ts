/** The part in each process that serves calls. Its code is loaded when a config first names issuers whose tokens calls may send. */
import type { WorkerHost, WorkerPart } from "../../gateway/seams.ts";
import type { TokenCalls } from "./calls.ts";
import type { IdentityConfig } from "./declarations.ts";
import type { Asks } from "./asks.ts";
import type { DeclaredPerson } from "./declared/people.ts";
import type { IdentityDown, IdentityUp } from "./messages.ts";
import type { ScimSettings } from "./scim/settings.ts";
import { admitsTokens, identitySection, issuersOf } from "./section.ts";
import type { SignInSettings } from "./sign-in/settings.ts";

export function start(host: WorkerHost): WorkerPart {
  let calls: TokenCalls | undefined;
  let signIn: SignInSettings | undefined;
  let scim: ScimSettings | undefined;
  /** The keeper is told also that an option is off: something may be left of it. */
  let isTold = false;
  const keeper = host.channel<IdentityUp, IdentityDown>();
  let asks: Asks | undefined;
  let declared: readonly DeclaredPerson[] | undefined;
  const send = () => {
    if (keeper.isUp && declared) keeper.send({ declared });
    if (!keeper.isUp || !isTold) return;
    keeper.send({ signIn: signIn ?? null });
    keeper.send({ scim: scim ?? null });
  };
  keeper.listen({ up: send, down: () => asks?.lost(), message: (answer) => asks?.received(answer) });
  return {
    async seams(config) {
      const section = identitySection.of(config);
      // Where people sign in they may have keys.
      const isOn =
        admitsTokens(section) || Object.values(section.providers).some(({ client }) => client !== undefined);
      if (!isOn) {
        calls?.stop();
        return undefined;
      }
      const [{ TokenCalls }, { Asks }] = await Promise.all([import("./calls.ts"), import("./asks.ts")]);
      asks ??= new Asks(keeper);
      calls ??= new TokenCalls(host, keeper, asks);
      return calls.seams(section);
    },
    serves(config) {
      const section = identitySection.of(config);
      void Promise.all([settingsOf(section), scimOf(section), declaredOf(section)]).then((settings) => {
        [signIn, scim, declared] = settings;
        isTold ||= Object.keys(section.providers).length > 0;
        send();
      });
    },
    startLines(config) {
      const issuers = issuersOf(identitySection.of(config));
      return issuers.length === 0 ? [] : [`tokens: of ${[...new Set(issuers)].join(", ")}`];
    },
    stop: () => calls?.stop(),
  };
}

async function settingsOf(section: IdentityConfig): Promise<SignInSettings | undefined> {
  if (section.url === undefined) return undefined;
  const { signInSettings } = await import("./sign-in/settings.ts");
  return signInSettings(section);
}

async function scimOf(section: IdentityConfig): Promise<ScimSettings | undefined> {
  if (!section.scim.token) return undefined;
  const { scimSettings } = await import("./scim/settings.ts");
  return scimSettings(section);
}

async function declaredOf(section: IdentityConfig): Promise<readonly DeclaredPerson[]> {
  return section.people.length === 0 ? [] : (await import("./declared/people.ts")).peopleIn(section);
}
