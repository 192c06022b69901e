/** Where Vertex is and how it knows who calls, for all providers there. */
import { googleIdentity, googleToken, type OutgoingRequest, type Place, type Provider } from "weir";

type Values = Readonly<Record<string, string>>;

/** The two multi-regions, whose data stay there, and the global endpoint have hosts of their own. */
function hostOf({ location = "" }: Values): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${encodeURIComponent(location)}-aiplatform.googleapis.com`;
}

const TOKEN = "VERTEX_ACCESS_TOKEN";

async function authorize(_request: OutgoingRequest, place: Place): Promise<Record<string, string>> {
  const { keyFile, identity, quotaProject } = place.variables;
  const token =
    place.secret(TOKEN) ?? (await googleToken(place, { keyFile, metadata: identity === "metadata" }));
  return {
    authorization: `Bearer ${token}`,
    ...(quotaProject !== undefined && { "x-goog-user-project": quotaProject }),
  };
}

/** Address, variables and credentials of a project in Google Cloud. */
export const VERTEX_ACCESS: Pick<Provider, "baseUrl" | "variables" | "credentials" | "authorize"> = {
  baseUrl: hostOf,
  variables: {
    project: {
      env: ["GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID"],
      find: ({ variables, env }) => googleIdentity({ env }, variables["keyFile"])?.project,
      describe: "the id of the project",
    },
    location: {
      env: ["GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"],
      default: "global",
      describe: "the location, such as global, eu or europe-west1",
    },
    keyFile: {
      env: ["GOOGLE_APPLICATION_CREDENTIALS"],
      optional: true,
      describe: "the path of a key file",
    },
    // Without the operator's word weir asks no address of the machine it runs on.
    identity: { optional: true, describe: "`metadata` to use the identity of a machine at Google" },
    quotaProject: {
      env: ["GOOGLE_CLOUD_QUOTA_PROJECT"],
      find: ({ variables, env }) => googleIdentity({ env }, variables["keyFile"])?.quotaProject,
      optional: true,
      describe: "the project whose quota the calls use",
    },
  },
  credentials: [
    [TOKEN],
    {
      find: ({ variables }) =>
        variables["identity"] === "metadata" ? "the metadata server of this machine" : undefined,
    },
    {
      find: ({ variables, env }) => googleIdentity({ env }, variables["keyFile"])?.source,
      hint: "set GOOGLE_APPLICATION_CREDENTIALS to a readable key file",
    },
  ],
  authorize,
};
