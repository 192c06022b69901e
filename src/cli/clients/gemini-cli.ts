import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJson } from "../../core/json.ts";
import type { Aim, KnownClient } from "./client.ts";

const FOLDER = ".gemini";
const SETTINGS = "settings.json";

/**
 * With an address in the environment, Gemini CLI starts only if its settings choose the login by key, and system settings count
 * only in folders of root. So it gets another home folder, with links to all that is in its own one except the settings.
 * https://geminicli.com/docs/reference/configuration/
 */
export const geminiCli: KnownClient = {
  name: "Gemini CLI",
  commands: ["gemini"],
  packages: ["@google/gemini-cli"],
  env: ({ folder, model }) => ({
    GEMINI_CLI_HOME: folder,
    // With both keys it prefers this one, and asks Vertex AI.
    GOOGLE_API_KEY: undefined,
    GOOGLE_GENAI_USE_GCA: undefined,
    ...(model !== undefined && { GEMINI_MODEL: model }),
  }),
  files: (aim) => ({ [join(FOLDER, SETTINGS)]: settingsFor(aim) }),
  links: (aim) =>
    Object.fromEntries(
      entriesOf(folderOf(aim))
        .filter((name) => name !== SETTINGS)
        .map((name) => [join(FOLDER, name), join(folderOf(aim), name)]),
    ),
  asksAlso: ["gemini-3.5-flash-lite"],
};

function folderOf({ user }: Aim): string {
  return join(user["GEMINI_CLI_HOME"] || user["HOME"] || "", FOLDER);
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function settingsFor(aim: Aim): string {
  const own = settingsOfUser(aim);
  const { security } = own;
  const { auth } = isObject(security) ? security : {};
  return JSON.stringify({
    ...own,
    security: {
      ...(isObject(security) && security),
      auth: { ...(isObject(auth) && auth), selectedType: "gemini-api-key" },
    },
  });
}

/** Settings with comments are no JSON, and count as none. */
function settingsOfUser(aim: Aim): Record<string, unknown> {
  try {
    const settings = parseJson(readFileSync(join(folderOf(aim), SETTINGS), "utf8"));
    return isObject(settings) ? settings : {};
  } catch {
    return {};
  }
}
