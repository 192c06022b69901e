/** Names that a build left out with features, each with the feature that it belonged to. */
import { LEFT_OUT } from "./left-out-names.ts";

export interface LeftOut {
  readonly sections: Readonly<Record<string, string>>;
  readonly commands: Readonly<Record<string, string>>;
}

/** @returns a clause for a name that the build left out; otherwise undefined */
export function describeLeftOut(kind: keyof LeftOut, name: string): string | undefined {
  const { [kind]: names }: LeftOut = LEFT_OUT;
  return Object.hasOwn(names, name)
    ? `${name} is not in this build (made --without ${names[name]})`
    : undefined;
}
