/** A host like Bedrock: signed requests, the model in the path, another path for streams, AWS event streams around Messages. */
import { definePlugin, eventStream, signV4 } from "weir";

export default definePlugin({
  name: "signing",
  providers: [
    {
      name: "signing",
      variables: {
        region: { env: ["SIGNING_REGION", "AWS_REGION"], describe: "the region, such as us-east-1" },
      },
      baseUrl: "https://signing.{region}.example.com",
      speaks: {
        messages: {
          json: "/model/{model}/invoke",
          stream: "/model/{model}/invoke-with-response-stream",
        },
      },
      framing: { messages: eventStream({ unwrap: "bytes" }) },
      envelope: {
        messages: { without: ["model", "stream"], with: () => ({ anthropic_version: "bedrock-2023-05-31" }) },
      },
      credentials: [
        ["SIGNING_ACCESS_KEY_ID", "SIGNING_SECRET_ACCESS_KEY", "SIGNING_SESSION_TOKEN"],
        ["SIGNING_ACCESS_KEY_ID", "SIGNING_SECRET_ACCESS_KEY"],
      ],
      authorize: (request, place) =>
        signV4(request, {
          service: "signing",
          region: place.variables["region"]!,
          keys: {
            accessKeyId: place.secret("SIGNING_ACCESS_KEY_ID")!,
            secretAccessKey: place.secret("SIGNING_SECRET_ACCESS_KEY")!,
            sessionToken: place.secret("SIGNING_SESSION_TOKEN"),
          },
          now: place.now(),
        }),
    },
  ],
});
