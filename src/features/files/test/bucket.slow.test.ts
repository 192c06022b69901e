/** A gateway whose files are in a bucket, with credentials from its environment. */
import { expect, test } from "bun:test";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { startBucket } from "./support/fake-bucket.ts";

const PLANTED = "planted-text-that-no-bucket-must-have";

test("a file is sealed in the bucket, read back, and deleted", async () => {
  const bucket = startBucket("kept");
  const gateway = await startGateway({
    target: "process",
    env: {
      S3_ENDPOINT: bucket.url,
      S3_ACCESS_KEY_ID: "id",
      S3_SECRET_ACCESS_KEY: "secret",
      S3_REGION: "eu-1",
    },
    config: { files: { where: "s3://kept/weir" } },
  });
  const { files } = new OpenAI({ apiKey: "none", baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const text = `${PLANTED}\n`.repeat(300_000);
  const { id } = await files.create({ file: new File([text], "a.txt"), purpose: "user_data" });
  expect([...bucket.objects.keys()]).toEqual([`weir/${id.slice("file-".length)}`]);
  expect([...bucket.objects.values()].some((bytes) => bytes.includes(PLANTED))).toBe(false);
  expect(await (await files.content(id)).text()).toBe(text);
  await files.delete(id);
  expect(bucket.objects.size).toBe(0);
  await bucket.stop();
  // A bucket that does not answer is no fault of the client.
  const fault = await files
    .create({ file: new File(["x"], "a.txt"), purpose: "user_data" })
    .catch((thrown: unknown) => thrown);
  expect(fault).toMatchObject({ status: 503, code: "files_unavailable" });
  await gateway.stop();
}, 120_000);
