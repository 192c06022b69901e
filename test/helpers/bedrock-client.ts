/** The AWS SDK, pointed at a fake upstream. It speaks HTTP/2 by default, which a fake upstream does not. */
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";

/** @param url of a fake upstream, on loopback */
export function bedrockClient(url: string): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    region: "us-east-1",
    endpoint: url,
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
    requestHandler: new NodeHttpHandler(),
    maxAttempts: 1,
  });
}
