import { extname } from "node:path";

const BY_EXTENSION: Readonly<Record<string, string>> = {
  ".adoc": "text/asciidoc",
  ".c": "text/x-c",
  ".cc": "text/x-c++",
  ".cjs": "text/javascript",
  ".cpp": "text/x-c++",
  ".cs": "text/x-csharp",
  ".css": "text/css",
  ".csv": "text/csv",
  ".diff": "text/x-diff",
  ".go": "text/x-go",
  ".gql": "application/graphql",
  ".graphql": "application/graphql",
  ".h": "text/x-c",
  ".htm": "text/html",
  ".html": "text/html",
  ".java": "text/x-java",
  ".js": "text/javascript",
  ".json": "application/json",
  ".jsonl": "application/x-ndjson",
  ".jsx": "text/javascript",
  ".kt": "text/x-kotlin",
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".mjs": "text/javascript",
  ".mts": "application/typescript",
  ".ndjson": "application/x-ndjson",
  ".patch": "text/x-diff",
  ".php": "text/x-php",
  ".py": "text/x-python",
  ".rb": "text/x-ruby",
  ".rs": "text/x-rust",
  ".rst": "text/x-rst",
  ".sh": "application/x-sh",
  ".sql": "application/sql",
  ".svg": "image/svg+xml",
  ".swift": "text/x-swift",
  ".toml": "application/toml",
  ".ts": "application/typescript",
  ".tsx": "application/typescript",
  ".txt": "text/plain",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
};

/** The media type by the file's name. Only texts are sent, so the default is plain text. */
export function mediaTypeOfFile(path: string): string {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(BY_EXTENSION, extension) ? (BY_EXTENSION[extension] ?? "") : "text/plain";
}
