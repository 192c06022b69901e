/** The tag of a release, which has to name the version in package.json. */
import { VERSION } from "../process/version.ts";

/** @throws Error if the environment is that of a workflow for a tag, and the tag names another version */
export function assertTag({ GITHUB_REF }: Readonly<Record<string, string | undefined>>): void {
  const tag = /^refs\/tags\/(.+)$/.exec(GITHUB_REF ?? "")?.[1];
  if (tag !== undefined && tag !== `v${VERSION}`)
    throw new Error(
      `The tag is ${tag}, but package.json has version ${VERSION}: the tag has to be v${VERSION}.`,
    );
}
