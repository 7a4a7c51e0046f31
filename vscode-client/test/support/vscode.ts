/** What the modules under test use of VS Code, outside of VS Code. */
export const l10n = {
  t: (message: string, ...values: readonly unknown[]): string =>
    message.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
};
