import type { Provider } from "weir";
import { awsCredentials, awsKeys, signV4 } from "weir";

/** The vendor's variable for an API key of Bedrock. */
const VENDOR_KEY = "AWS_BEARER_TOKEN_BEDROCK";

/**
 * How requests to the hosts of Bedrock are authorized: with an API key if there is one, else with a signature.
 * @param service name of the service in the signature
 * @param ownKey variable for an API key of this provider alone, and the name of `apiKey` in the config
 */
export function bedrockAccess(
  service: string,
  ownKey: string,
): Required<Pick<Provider, "credentials" | "authorize" | "requestIdHeader">> {
  return {
    credentials: awsCredentials([VENDOR_KEY], [ownKey]),
    async authorize(request, place) {
      const key = place.secret(VENDOR_KEY) ?? place.secret(ownKey);
      if (key !== undefined) return { authorization: `Bearer ${key}` };
      const keys = await awsKeys(place);
      return signV4(request, { service, region: place.variables.region ?? "", keys, now: place.now() });
    },
    requestIdHeader: "x-amzn-requestid",
  };
}
