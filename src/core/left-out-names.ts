/** A full build leaves nothing out. One that is made `--without` features has another module in place of this one. */
export const LEFT_OUT = { sections: {}, commands: {} };
