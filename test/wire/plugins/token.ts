/** A host whose paths hold the model, with streams elsewhere, and whose access tokens come from a token endpoint. */
import type { FetchedToken, Place } from "weir";
import { definePlugin, isObject, oauthToken, parseJson } from "weir";

async function fetchToken(place: Place): Promise<FetchedToken> {
  const { status, text } = await place.fetch({
    url: place.variables["tokenUrl"]!,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ client_secret: place.secret("TOKEN_CLIENT_SECRET")! }).toString(),
  });
  const body = parseJson(text);
  if (status !== 200 || !isObject(body))
    throw new Error(`The token endpoint answered with status ${status}.`);
  return { token: String(body.access_token), expiresInSeconds: Number(body.expires_in) };
}

export default definePlugin({
  name: "token",
  providers: [
    {
      name: "token",
      models: ["token/*"],
      variables: {
        project: { env: ["TOKEN_PROJECT"], describe: "the id of the project" },
        tokenUrl: { default: "https://login.example.com/token", describe: "the URL of the token endpoint" },
      },
      baseUrl: "https://token.example.com",
      speaks: {
        "chat-completions": {
          json: "/projects/{project}/models/{model}:generate?version=2",
          stream: "/projects/{project}/models/{model}:stream?version=2",
        },
      },
      envelope: { "chat-completions": { without: ["model"] } },
      credentials: [["TOKEN_CLIENT_SECRET"]],
      authorize: async (_request, place) => ({
        authorization: `Bearer ${await oauthToken(place, fetchToken)}`,
      }),
    },
  ],
});
