import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["server/", "dist/", "out/", "l10n/", "*.mjs"] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    // node:test returns promises that its own runner awaits.
    files: ["test/**"],
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
);
