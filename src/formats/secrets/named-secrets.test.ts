import { describe, expect, test } from "vitest";
import { HARMLESS_LINES } from "../../testing/harmless-lines.ts";
import { loadRuleSet } from "./rule-set.ts";
import { scrubber } from "./scrub.ts";
import { isSecretName } from "./secret-names.ts";

const { scrubText, scrubValue, holdsKey } = scrubber({ more: await loadRuleSet() });

const BLANKS = " ".repeat(20);
/** More options than fit into eighty characters. */
const FAR = `--host=${"a".repeat(80)}.example --port=3306 -u root`;

describe("a value is hidden by the name before it", () => {
  test.each([
    ["in a member of JSON", '{"password":"hunter2","n":1}', '{"password":"[REDACTED]","n":1}'],
    ["in JSON in JSON", '{\\"token\\": \\"ab\\\\\\"cd\\", \\"n\\": 1}', '{\\"token\\": \\"[REDACTED]\\", \\"n\\": 1}'],
    ["with a quote in it", '{"secret":"a\\"b\\\\","n":1}', '{"secret":"[REDACTED]","n":1}'],
    ["in a list", "passwords: ['one', \"two\"], n: 1", "passwords: ['[REDACTED]', \"[REDACTED]\"], n: 1"],
    ["after NAME=", "export DB_PASSWORD=hunter2\nexport N=1", "export DB_PASSWORD=[REDACTED]\nexport N=1"],
    ["after a name with blanks", "client_secret = hunter2", "client_secret = [REDACTED]"],
    ["in single quotes", "api_key='hunter2' n=1", "api_key='[REDACTED]' n=1"],
    ["in quotes after a colon", 'the secret: "open sesame"', 'the secret: "[REDACTED]"'],
    ["of two words", "api key = hunter2", "api key = [REDACTED]"],
    ["in camel case", "dbPassword=hunter2", "dbPassword=[REDACTED]"],
    ["of several", "SECRET_KEY_BASE=hunter2 TOKEN_2=x1", "SECRET_KEY_BASE=[REDACTED] TOKEN_2=[REDACTED]"],
    ["in a header", "X-Api-Key: hunter2\nAccept: */*", "X-Api-Key: [REDACTED]\nAccept: */*"],
    [
      "in a header of a command",
      `curl -H "x-auth-token: h2" https://x`,
      `curl -H "x-auth-token: [REDACTED]" https://x`,
    ],
    ["in a cookie", "> Cookie: sid=1; theme=dark\n>", "> Cookie: [REDACTED]\n>"],
    ["behind its scheme", "Authorization: Digest abc, realm=x", "Authorization: Digest [REDACTED]"],
    ["in a line of settings", "user: ada\npassword: hunter2 # new\n", "user: ada\npassword: [REDACTED] # new\n"],
    ["in a query", "/x?access_token=abc&page=2", "/x?access_token=[REDACTED]&page=2"],
    ["in a query of a query", "/x?to=%2Fy%3Ftoken%3Dabc%26page%3D2", "/x?to=%2Fy%3Ftoken%3D[REDACTED]%26page%3D2"],
    ["after an option", "login --password hunter2 --name x", "login --password [REDACTED] --name x"],
    ["after an option with =", "login --api-key=hunter2 --name x", "login --api-key=[REDACTED] --name x"],
    ["of sshpass", "sshpass -p hunter2 ssh host", "sshpass -p [REDACTED] ssh host"],
    ["of mysql", "mysql -uroot -phunter2 shop", "mysql -uroot -p[REDACTED] shop"],
    ["of curl", "curl -u ada:hunter2 https://x", "curl -u ada:[REDACTED] https://x"],
    ["in XML", "<user>ada</user><password>hunter2</password>", "<user>ada</user><password>[REDACTED]</password>"],
    ["in a declaration", 'password: str = "hunter2"', 'password: str = "[REDACTED]"'],
    ["by index", `env["API_TOKEN"] = "hunter2"`, `env["API_TOKEN"] = "[REDACTED]"`],
    ["in a connection", "Server=a;Password=p@s,s)w;Db=x", "Server=a;Password=[REDACTED];Db=x"],
    ["with invisible marks", "pass\u200bword=hunter2", "pass\u200bword=[REDACTED]"],
    ["that was cut off", '{"password":"hunter2', '{"password":"[REDACTED]'],
    ["after an arrow", 'password => "hunter2", n => 1', 'password => "[REDACTED]", n => 1'],
    ["after a default", "token ?= hunter2", "token ?= [REDACTED]"],
    ["after a colon and an equals sign", "token := hunter2", "token := [REDACTED]"],
    ["that may be missing", '{ password?: "hunter2" }', '{ password?: "[REDACTED]" }'],
    ["that looks like code, of a variable of the environment", "API_TOKEN=abc(def", "API_TOKEN=[REDACTED]"],
    ["by a bare index", "env[TOKEN]=hunter2", "env[TOKEN]=[REDACTED]"],
    ["in a longer list", "passwords: ['a1', 'b2', 'c3']", "passwords: ['[REDACTED]', '[REDACTED]', '[REDACTED]']"],
    ["on the next line", '{"password":\n  "hunter2"}', '{"password":\n  "[REDACTED]"}'],
    ["in a header within a line", "see x-api-key: abc123 there", "see x-api-key: [REDACTED] there"],
    ["in a header of letters", "see x-api-key: abcdefghijklmnopq.", "see x-api-key: [REDACTED]"],
    ["in a quoted header", `"x-api-key: hunter2" and "more"`, `"x-api-key: [REDACTED]" and "more"`],
    [
      "in headers of others",
      "private-token: a b\nproxy-auth-token: c d",
      "private-token: [REDACTED]\nproxy-auth-token: [REDACTED]",
    ],
    ["in a cookie of two", "cookie: a=b c=d", "cookie: [REDACTED]"],
    ["behind a scheme with more", "authorization: hawk one two", "authorization: hawk [REDACTED]"],
    ["of a login", "docker login -u ada -p hunter2 host", "docker login -u ada -p [REDACTED] host"],
    ["of a user", "curl --user ada:hunter2 https://x", "curl --user ada:[REDACTED] https://x"],
    ["of nothing but marks", "token=!!!!", "token=[REDACTED]"],
    ["too long to be a reference", `token=$${"a".repeat(250)}`, "token=[REDACTED]"],
    ["that repeats its name", "token=tokentokentoken", "token=[REDACTED]"],
    ["in a list of arguments", '{"args":["psql","--password","h2"]}', '{"args":["psql","--password","[REDACTED]"]}'],
    ["in a list of arguments over lines", `["--api-key",\n  'h2']`, `["--api-key",\n  '[REDACTED]']`],
    [
      "in a list of arguments in JSON in JSON",
      '{\\"args\\":[\\"--password\\", \\"h2\\"]}',
      '{\\"args\\":[\\"--password\\", \\"[REDACTED]\\"]}',
    ],
    ["of sshpass in a list", '["sshpass","-p","h 2","ssh"]', '["sshpass","-p","[REDACTED]","ssh"]'],
    ["of mysql in a list", '["mysql","-uroot","-phunter2"]', '["mysql","-uroot","-p[REDACTED]"]'],
    ["of mysql in quotes", "mysql -uroot -p'hunter 2' shop", "mysql -uroot -p'[REDACTED]' shop"],
    ["of a login in a list", '["docker","login","-p","h2"]', '["docker","login","-p","[REDACTED]"]'],
    ["of curl in a list", '["curl","-u","ann:h 2","x"]', '["curl","-u","ann:[REDACTED]","x"]'],
    ["of curl in one item", '["--user=ann:h 2","-uann:h2"]', '["--user=ann:[REDACTED]","-uann:[REDACTED]"]'],
    ["of curl with a slash in it", "curl -u ann:pa/h2 https://x", "curl -u ann:[REDACTED] https://x"],
    ["of curl in quotes", "curl --user 'ann:two words' x", "curl --user 'ann:[REDACTED]' x"],
    ["of curl in quotes of its own", 'curl -u ann:"two words" x', 'curl -u ann:"[REDACTED]" x'],
    [
      "of a program in a container",
      "docker run --rm curl curl -u ann:h2 https://x",
      "docker run --rm curl curl -u ann:[REDACTED] https://x",
    ],
    ["on a continued line", "psql --password \\\n  hunter2 -v", "psql --password \\\n  [REDACTED] -v"],
    ["on a continued line in JSON", '"psql --password \\\\\\n hunter2"', '"psql --password \\\\\\n [REDACTED]"'],
    ["after an option of two words", "app --db.password hunter2", "app --db.password [REDACTED]"],
    ["after an option with one dash", "app -password hunter2", "app -password [REDACTED]"],
    ["in quotes of a shell", "export DB_PASSWORD=$'hunter2' N=1", "export DB_PASSWORD=$'[REDACTED]' N=1"],
    ["in CDATA", "<password><![CDATA[h2]]></password>", "<password><![CDATA[[REDACTED]]]></password>"],
    [
      "in CDATA of two parts, after another one",
      "<token>h1</token><token>\n<![CDATA[a<]]><![CDATA[</b>]]>\n</token>",
      "<token>[REDACTED]</token><token>\n<![CDATA[[REDACTED]]]>\n</token>",
    ],
    [
      "named by another member",
      '[{"name":"DB_PASSWORD","value":"h2"}]',
      '[{"name":"DB_PASSWORD","value":"[REDACTED]"}]',
    ],
    [
      "named by a member after it",
      "{ value: 'h2', type: 'x', key: 'token' }",
      "{ value: '[REDACTED]', type: 'x', key: 'token' }",
    ],
    [
      "named by another member in JSON in JSON",
      '{\\"name\\":\\"TOKEN\\",\\"n\\":1,\\"value\\":\\"h2\\"}',
      '{\\"name\\":\\"TOKEN\\",\\"n\\":1,\\"value\\":\\"[REDACTED]\\"}',
    ],
    [
      "named by the line before",
      "env:\n- name: DB_PASSWORD\n  value: h2\n- name: N\n  value: 1",
      "env:\n- name: DB_PASSWORD\n  value: [REDACTED]\n- name: N\n  value: 1",
    ],
    [
      "behind many blanks",
      `db_user${BLANKS}= "ann"\ndb_password${BLANKS}= "h2"`,
      `db_user${BLANKS}= "ann"\ndb_password${BLANKS}= "[REDACTED]"`,
    ],
    ["behind many blanks and a colon", `password${BLANKS}:${BLANKS}h2`, `password${BLANKS}:${BLANKS}[REDACTED]`],
    ["behind many tabs", `DB_PASSWORD${"\t".repeat(9)}= h2`, `DB_PASSWORD${"\t".repeat(9)}= [REDACTED]`],
    ["in a member of JSON in columns", `{"password"${BLANKS}: "h2"}`, `{"password"${BLANKS}: "[REDACTED]"}`],
    ["after an option and many blanks", `psql --password${BLANKS}h2x`, `psql --password${BLANKS}[REDACTED]`],
    [
      "behind its scheme and many blanks",
      `Authorization:${BLANKS}Digest${BLANKS}h2`,
      `Authorization:${BLANKS}Digest${BLANKS}[REDACTED]`,
    ],
    ["of mysql far behind it", `mysql ${FAR} -ph2 shop`, `mysql ${FAR} -p[REDACTED] shop`],
    ["of mysql on a continued line", "mysql \\\n  -h db \\\n  -ph2 shop", "mysql \\\n  -h db \\\n  -p[REDACTED] shop"],
    ["of a login far behind it", `login ${FAR} -p h2 host`, `login ${FAR} -p [REDACTED] host`],
    [
      "of a login on a continued line",
      "docker login \\\n -u a \\\n -p h2",
      "docker login \\\n -u a \\\n -p [REDACTED]",
    ],
    ["of a login, attached", "docker login -u ann -phunter2 host", "docker login -u ann -p[REDACTED] host"],
    [
      "of two logins",
      "login -u a -p h2 x && login -u b -p h3 y",
      "login -u a -p [REDACTED] x && login -u b -p [REDACTED] y",
    ],
    [
      "that a reference of Spring falls back to",
      `password: \${DB_PASSWORD:h2}`,
      `password: \${DB_PASSWORD:[REDACTED]}`,
    ],
    [
      "that a reference of a shell falls back to",
      `PASSWORD=\${PASSWORD:-h2} N=1`,
      `PASSWORD=\${PASSWORD:-[REDACTED]} N=1`,
    ],
    ["that a reference sets", `PASSWORD="\${PASSWORD:=two words}"`, `PASSWORD="\${PASSWORD:=[REDACTED]}"`],
    ["that a reference in a reference falls back to", `TOKEN=\${A:-\${B-h2}}`, `TOKEN=\${A:-\${B-[REDACTED]}}`],
    ["with a quote in it, as in SQL and YAML", "password='it''s h2' n='1'", "password='[REDACTED]' n='1'"],
    ["with a quote in it, as in shells", "PASSWORD='a'\\''h2' N='1'", "PASSWORD='[REDACTED]' N='1'"],
    ["with a quote in it in quotes", `PASSWORD='a'"'"'h2' N='1'`, "PASSWORD='[REDACTED]' N='1'"],
    ["in a block of YAML", "a:\n  password: |\n    h1\n\n    h2\n  n: 1", "a:\n  password: |\n    [REDACTED]\n  n: 1"],
    [
      "in a folded block of YAML",
      "- token: >-  # new\r\n    h1\r\n- n: 1",
      "- token: >-  # new\r\n    [REDACTED]\r\n- n: 1",
    ],
    [
      "in a list of YAML",
      "passwords:\n  - hunter2\n  - 'two words' # x\n- n",
      "passwords:\n  - [REDACTED]\n  - '[REDACTED]' # x\n- n",
    ],
    ["behind a tag of YAML", "password: !!str h2\n", "password: !!str [REDACTED]\n"],
    ["behind an anchor of YAML", "password: &pw 'h2'\n", "password: &pw '[REDACTED]'\n"],
    ["before an end tag with a blank", "<password>h2</password >", "<password>[REDACTED]</password >"],
    ...[
      ["has an underscore", '"created_at":"2026"'],
      ["is a list", '"tags":["a",{"b":[]}]'],
      ["is an object", '"labels":{"a":1,"b":{}}'],
      ["is one of many", Array.from({ length: 12 }, (_, i) => `"a${i}":${i}`).join()],
      ["is long", `"about":"${"a b ".repeat(700)}"`],
    ].map(([how, member]): [string, string, string] => [
      `named by another member where one between ${how}`,
      `{"name":"DB_PASSWORD",${member},"value":"h2"}`,
      `{"name":"DB_PASSWORD",${member},"value":"[REDACTED]"}`,
    ]),
    [
      "in a list, named by another member",
      '{"name":"X-Api-Key","value":["h2"]}',
      '{"name":"X-Api-Key","value":["[REDACTED]"]}',
    ],
    [
      "named by a line with a comment",
      "- name: DB_PASSWORD # new\n\n  value: h2",
      "- name: DB_PASSWORD # new\n\n  value: [REDACTED]",
    ],
    [
      "in the last line of a text in JSON",
      '{"content":"db:\\n  password: hunter","mode":"0644"}',
      '{"content":"db:\\n  password: [REDACTED]","mode":"0644"}',
    ],
    ["in the first line of a text in JSON", '{"a":"- token: h2","b":1}', '{"a":"- token: [REDACTED]","b":1}'],
    [
      "in a header at the end of a text in JSON in JSON, up to its quote",
      '"{\\"a\\":\\"Accept: x\\\\r\\\\nX-Api-Key: h2 h3\\",\\"b\\":\\"c d\\"}"',
      '"{\\"a\\":\\"Accept: x\\\\r\\\\nX-Api-Key: [REDACTED]\\",\\"b\\":\\"c d\\"}"',
    ],
    [
      "in a header with quotes of its own",
      'Authorization: Digest a="h1", b="h2"\n"c"',
      'Authorization: Digest [REDACTED]\n"c"',
    ],
    [
      "in a block in a text in JSON",
      '{"a":"password: |\\n  say \\"h1\\",\\n  h2","b":"c d"}',
      '{"a":"password: |\\n  [REDACTED]","b":"c d"}',
    ],
    [
      "in a list at the end of a text in JSON",
      '{"a":"tokens:\\npasswords:\\n- h2","b":"c d"}',
      '{"a":"tokens:\\npasswords:\\n- [REDACTED]","b":"c d"}',
    ],
    ["behind the mark of a quote, in JSON", '"token = b\\"hunter2\\""', '"token = b\\"[REDACTED]\\""'],
    [
      "behind the number of its line",
      "     1\tdb:\n     2\t  password: h2\n",
      "     1\tdb:\n     2\t  password: [REDACTED]\n",
    ],
    ["behind the number of its line and an arrow", " 9→ a: 1\n10→ token: h2", " 9→ a: 1\n10→ token: [REDACTED]"],
    [
      "behind its file",
      "conf/app.yml:7:  password: h2\na.yml: token: h2",
      "conf/app.yml:7:  password: [REDACTED]\na.yml: token: [REDACTED]",
    ],
    ["behind its file, in JSON", '{"out":"app.yml:7:  token: h2"}', '{"out":"app.yml:7:  token: [REDACTED]"}'],
    ["behind a time", "2026-01-01T00:00:00.123Z   token: h2", "2026-01-01T00:00:00.123Z   token: [REDACTED]"],
    ["behind who wrote it", "web-1  | token: h2\ndb  | a", "web-1  | token: [REDACTED]\ndb  | a"],
    [
      "in a block that is quoted, or added",
      "> password: |\n>   h1\n> n: 1\n\n+token: |\n+  h2\n+n: 1",
      "> password: |\n>   [REDACTED]\n> n: 1\n\n+token: |\n+  [REDACTED]\n+n: 1",
    ],
    [
      "named by the line before, where both were added",
      "+  - name: DB_PASSWORD\n+    value: h2\n-    value: h3",
      "+  - name: DB_PASSWORD\n+    value: [REDACTED]\n-    value: [REDACTED]",
    ],
    ["of a constant in Rust", `const API_KEY: &'static str = "h2";`, `const API_KEY: &'static str = "[REDACTED]";`],
    [
      "in a list after an equals sign",
      'api_keys = [\n  "h1",\n  "h2"]',
      'api_keys = [\n  "[REDACTED]",\n  "[REDACTED]"]',
    ],
    [
      "that stands in for one that is missing",
      `const token = process.env["TOKEN"] ?? "h2";\n  password: env.PASSWORD || 'h2',\nTOKEN = get("T") or "h2"`,
      `const token = process.env["TOKEN"] ?? "[REDACTED]";\n  password: env.PASSWORD || '[REDACTED]',\nTOKEN = get("T") or "[REDACTED]"`,
    ],
    [
      "named by another member in capitals",
      '{"Name":"/prod/db/password","Type":"String","Value":"h2"}',
      '{"Name":"/prod/db/password","Type":"String","Value":"[REDACTED]"}',
    ],
    ["over lines", 'secret = """one\ntwo"""\nend', 'secret = """[REDACTED]"""\nend'],
  ])("%s", (_, text, clean) => {
    expect(scrubText(text)).toBe(clean);
    expect(scrubText(clean)).toBe(clean);
    expect(holdsKey(text)).toBe(false);
  });

  test.each([
    ["an arrow to a variable", "password => hunter2"],
    ["a comparison", "if (token == hunter2 || token != other1 || token >= limit1) go(); token-=other1"],
    ["a path of a language", "Token::create"],
    ["an address", "secret://vault/x"],
    ["a number in JSON", '{"token": 12345, "secret": true, "password": null}'],
    ["a number in a line of JSON", '{\n  "token": 12345,\n  "secret": -1.5\n}'],
    ["a word in a header within a line", "the x-api-key: value of it"],
    ["an option in a sentence", "use --password and --name; --token is needed; a--password hunter2"],
    ["a user and a group", "docker run -u 1000:1000 x; docker run --user 1000:1000 y; curl -u x:x https://x"],
    ["a call after a colon", "token: read(x1)"],
    ["an option after an option in a list", '["--token","--verbose"] ["--token", "-v"]'],
    ["a list of options in a sentence", "the options `--token`, `name` and --password. Then more"],
    ["an option that is declared", 'option("--token", "print the token").option("--password", "-p")'],
    ["a flag at the end of a list", '["sshpass","-p"], ["curl","-u"], ["login","-p"], "x"'],
    ["an aside in a sentence and a removed line", "a -token expired -\n-password hunter2"],
    ["a text that ends with a dollar sign", `"?token=$" + token + "&n=1"`],
    ["a variable that another member names", "{ name: 'token', value: current }, { key: 'token',\n value: current\n}"],
    ["a member that another one describes", '{"name":"password","label":"Password"},{"name":"n","value":"h2"}'],
    ["a title", "name: Get token\ndefault: h2"],
    ["words about a value", "token=none password=token-less, secret=[REDACTED], client_secret=client_secret"],
    ["a reference", "token=$TOKEN password=%PASS% secret={{ vault.x }} token=*** token=xxxxxxxxxxxxxxxxxxxx"],
    ["a mark or two", "token=!! password=-"],
    ["an option in a column", `--token${BLANKS}Token of the host\n--password${BLANKS}8 or more characters`],
    ["an option of another command", `docker login --username ann host ${FAR} && mkdir -p build2`],
    ["another option of a login", "tsh login -path -port=22 `login -p` and more"],
    ["words about a login", `After the login you see it, ${"and ".repeat(30)} then mkdir -p build2`],
    ["references to references", `password: \${A:} token: \${A:-$B}\nTOKEN=\${A:?missing} SECRET=\${A:+set}`],
    ["a list of sentences", "Passwords:\n- letters\n- have digits\n- name: x2\n"],
    ["a choice in code", "switch (type) {\n  case 'client_credentials':\n  default:\n    throw new Error();\n}"],
    ["a sentence behind a number", "1. Password: ask Ana\n2. The token: see below\n3 tokens: 4096"],
    ["a default that is none", `const token = env.TOKEN ?? ""; const n = "h2"; token = env.a || b; say("h2")`],
    ["a block of something else", "about: |\n  the password\npassword: |\nn: 1"],
  ])("and not where there is none: %s", (_, text) => {
    expect(scrubText(text)).toBe(text.replace("password=token-less", "password=[REDACTED]"));
  });

  test("a name that is too long to be one hides nothing", () => {
    expect(isSecretName(`${"a".repeat(71)}_password`)).toBe(true);
    expect(isSecretName(`${"a".repeat(72)}_password`)).toBe(false);
  });

  test.each([
    "passwords passwort passcode jwt apikeys authtoken credential cookie auth_token secretkey privatekey accesskey",
    "clientsecret appsecret sharedsecret webhooksecret accesstoken apitoken refreshtoken bearertoken sessiontoken",
    "idtoken bottoken X-Goog-Signature X-Goog-Credential X-Amz-Credential MY_PASS dbPass user_pass loginPass _auth APIToken DBPassword CSRFToken HTTPCookie",
    "passPhrase PASS_PHRASE passWord PassWord pass_word passCode api_keys apiKeys API_KEYS auth_token",
    "encryption-key hmac_key masterKey ssh_key deployKey storage-account-key accountKey webhook_key",
    "token_v2 passwordNew secret.value tokenHex TOKEN_PROD password_old api_key_backup",
    "password passwd secret token api_key apikey client_secret authorization x-api-key DB_PASSWORD CI_TOKEN",
    "passphrase pwd accessToken refresh_token AWS_SECRET_ACCESS_KEY private-key SMTP_PASS Set-Cookie credentials",
    "AZURE_OPENAI_KEY stripe_key ansible_become_pass",
    "mysqlpassword config.db.password password2 signingKey X-Amz-Signature",
  ])("names: %s", (names) => {
    for (const name of names.split(" ")) expect(isSecretName(name), name).toBe(true);
  });

  test.each([
    "x_pass the_pass single-pass stop_token pad-token cancellationToken input_token designToken syncToken auth basic",
    "foreign_key partitionKey cacheKey keys secrets secretary tokenizer passwordless to ab",
    "tokens maxTokens token_count tokenType nextPageToken eos_token time_to_first_token password_policy password_hash",
    "secretName key primary_key sort-key public_key keyId access_key_id passes first_pass compass author keyboard",
  ])("other names: %s", (names) => {
    for (const name of names.split(" ")) expect(isSecretName(name), name).toBe(false);
  });
});

describe("a member of a value", () => {
  test("is hidden by its name, and everything else stays as it is", () => {
    const value = {
      token: "abc",
      Authorization: "Bearer x",
      argv: ["run", "--password", "hunter2", "--verbose"],
      env: [{ name: "DB_PASSWORD", value: "hunter2" }],
      parameter: { Name: "/prod/db/password", Value: "hunter2" },
      schema: { properties: { password: { type: "string", default: "hunter2" } }, required: ["password"] },
      passwords: ["a1", 2],
      maxTokens: 5,
      secret: "",
      password: 7,
      apiKey: null,
      credential: "$KEY",
      nextPageToken: "p2",
      pwd: true,
    };
    expect(scrubValue(value)).toEqual({
      ...value,
      token: "[REDACTED]",
      Authorization: "Bearer [REDACTED]",
      argv: ["run", "--password", "[REDACTED]", "--verbose"],
      env: [{ name: "DB_PASSWORD", value: "[REDACTED]" }],
      parameter: { Name: "/prod/db/password", Value: "[REDACTED]" },
      schema: { properties: { password: { type: "string", default: "[REDACTED]" } }, required: ["password"] },
      passwords: ["[REDACTED]", 2],
    });
    const clean = scrubValue(value);
    expect(scrubValue(clean)).toBe(clean);
  });

  test.each([
    [
      ["-password", "h2"],
      ["-password", "[REDACTED]"],
    ],
    [
      ["/usr/bin/sshpass", "-p", "h2"],
      ["/usr/bin/sshpass", "-p", "[REDACTED]"],
    ],
    [
      ["sshpass", "-ph2"],
      ["sshpass", "-p[REDACTED]"],
    ],
    [
      ["docker", "login", "-u", "ann", "-p", "h2"],
      ["docker", "login", "-u", "ann", "-p", "[REDACTED]"],
    ],
    [
      ["mysql", "-uroot", "-ph2"],
      ["mysql", "-uroot", "-p[REDACTED]"],
    ],
    [
      ["--user=ann:h2", "-uann:h2"],
      ["--user=ann:[REDACTED]", "-uann:[REDACTED]"],
    ],
  ])("is hidden by the option before it: %j", (items, clean) => {
    expect(scrubValue(items)).toEqual(clean);
  });

  test.each([
    [["--token", "--verbose", "--password", "-v"]],
    [["docker", "run", "--rm", "--user", "app:staff", "img"]],
    [["mkdir", "-p", "build"]],
    [["mysql", "-p", "shop"]],
    [["- token", "h2"]],
  ])("stays where the option before it has no secret: %j", (items) => {
    expect(scrubValue(items)).toBe(items);
  });

  test("is hidden by the name that another member gives it", () => {
    const pairs = [
      { key: "DB_PASSWORD", value: "h2" },
      { header: "x-api-key", value: "h2" },
      { variable: "TOKEN", default: "h2" },
      { variableName: "TOKEN", defaultValue: "h2" },
    ];
    for (const pair of pairs) expect(Object.values(scrubValue(pair))).toEqual([Object.values(pair)[0], "[REDACTED]"]);
    expect(scrubValue({ token: { value: "h2", type: "x" } })).toEqual({ token: { value: "[REDACTED]", type: "x" } });
    for (const other of [
      { about: "TOKEN", value: "h2" },
      ["password", "h2"],
      { secret: "Bearer" },
      { token: "token" },
    ]) {
      expect(scrubValue(other)).toBe(other);
    }
  });
});

describe("a secret in another writing", () => {
  const KEY = "sk-proj-abcdefghijklmnop1234";
  const wraps: Readonly<Record<string, (text: string) => string>> = {
    base64: (text) => Buffer.from(text).toString("base64"),
    "base64 of URLs": (text) => Buffer.from(text).toString("base64url"),
    "hexadecimal digits": (text) => Buffer.from(text).toString("hex"),
    "base64 twice": (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64"),
    "lines of base64": (text) =>
      (
        Buffer.from(text.padEnd(200, " more"))
          .toString("base64")
          .match(/.{1,76}/g) ?? []
      ).join("\n"),
    "lines of base64 that end as on Windows": (text) =>
      (
        Buffer.from(text.padEnd(200, " more"))
          .toString("base64")
          .match(/.{1,64}/g) ?? []
      ).join("\r\n"),
    "base64 behind other letters": (text) => `x1Y${Buffer.from(text).toString("base64")}`,
    "digits behind another one": (text) => `7${Buffer.from(text).toString("hex")}`,
    "base64 behind bytes": (text) => Buffer.from(`\u0000\u0001\u0002${text}`).toString("base64"),
  };

  test("is hidden where the letters of base64 for URLs are in it", () => {
    const written = Buffer.from('{"password":"~~~???>>>~~~???>>>"}').toString("base64url");
    for (const letter of "-_") expect(written).toContain(letter);
    expect(scrubText(`see ${written} there`)).toBe("see [REDACTED] there");
  });

  test.each(["\n", "\r\n"])("is hidden where it goes over the end of a line: %j", (end) => {
    const written = Buffer.from(`${"word ".repeat(8)}${KEY}`)
      .toString("base64")
      .replace(/=+$/, "");
    const lines = written.match(/.{1,64}/g) ?? [];
    expect(lines).toHaveLength(2);
    expect(scrubText(`see\n${lines.join(end)}\nthere`)).toBe("see\n[REDACTED]\nthere");
  });

  describe.each([20, 24, 32, 40, 48, 50, 64, 76])("in lines of %i", (width) => {
    test.each(["\n", "\r\n", "\\n", "\n  ", "\n\t", "\n> "])("is hidden whole: %j", (end) => {
      const text = `${"word ".repeat(6)}${KEY} and more words than one line can hold`;
      for (const encoding of ["base64", "hex"] as const) {
        const written = Buffer.from(text).toString(encoding).replace(/=+$/, "");
        const lines = written.match(new RegExp(`.{1,${width}}`, "g")) ?? [];
        expect(scrubText(`see ${lines.join(end)}`)).toBe("see [REDACTED]");
      }
    });
  });

  test("ends with the line that is shorter than those before it", () => {
    const lines =
      Buffer.from(`a ${KEY} b`)
        .toString("hex")
        .match(/.{1,48}/g) ?? [];
    expect(lines.map((line) => line.length)).toEqual([48, 16]);
    expect(scrubText(`${lines.join("\n")}\nthere\n`)).toBe("[REDACTED]\nthere\n");
    expect(scrubText(`${Buffer.from(KEY).toString("hex")}\nthere it is`)).toBe("[REDACTED]\nthere it is");
  });

  test("is separated from its neighbours", () => {
    const [secret, words] = [`${KEY}56`, "The quick brown fox jumps."].map((text) =>
      Buffer.from(text).toString("base64"),
    );
    expect(scrubText(`${words} ${secret} ${words}`)).toBe(`${words} [REDACTED] ${words}`);
  });

  test.each(Object.entries(wraps))("is hidden: %s", (_, wrap) => {
    for (const text of [KEY, `a ${KEY}`, `ab ${KEY} and more`, `export API_TOKEN=hunter2 # ${"x".repeat(12)}`]) {
      const written = wrap(text);
      for (const around of [written, `see "${written}".`, `data:text/plain;base64,${written}`, `{"a":"${written}"}`]) {
        expect(scrubText(around), around).toContain("[REDACTED]");
        expect(scrubText(around), around).not.toContain(written.replace(/=+$/, "").slice(8));
      }
    }
  });

  test("stays where there is no secret in it", () => {
    for (const wrap of Object.values(wraps)) {
      const text = `see ${wrap("The quick brown fox jumps over the lazy dog.")} there`;
      expect(scrubText(text)).toBe(text);
    }
  });
});

describe("sentences, code and settings without a secret", () => {
  test("are enough of them", () => expect(HARMLESS_LINES.length).toBeGreaterThanOrEqual(200));

  test.each(HARMLESS_LINES)("stays: %s", (line) => {
    expect(scrubText(line)).toBe(line);
  });
});

test.each([
  `console.log('password:', password);\nshow('name:', name);`,
  `print("OIDC Token: ", token)\nprint("done")`,
  `password = ask_password("Password: ")\nreturn ask("Save it?")`,
  `const url = "/x?token=" + token;\nopen(url, "now");`,
  JSON.stringify({ code: `log('a secret:', it)\nlog('end')` }),
  `self.password = password\nself._api_key = api_key or None\nthis.token = token`,
])("code that writes the name of a secret and not its value stays, with the lines after it: %j", (code) => {
  expect(scrubText(code)).toBe(code);
});

test.each([
  [`here's the password: 'hunter2'`, `here's the password: '[REDACTED]'`],
  [`"it" has password: "hunter2", and 'more'`, `"it" has password: "[REDACTED]", and 'more'`],
  [`say('x', { password: 'hunter2' })`, `say('x', { password: '[REDACTED]' })`],
  [`DB_PASSWORD=password`, `DB_PASSWORD=[REDACTED]`],
])("a quote that opens a value is distinguished from one that closes a text: %s", (text, clean) => {
  expect(scrubText(text)).toBe(clean);
});

test("a long text of nothing but secrets is hidden whole, without a search for each", () => {
  for (const piece of ['"password":"hunter2",', "--password x ", "x-api-key: abc1\n", "token=a&"]) {
    expect(scrubText(piece.repeat(60_000))).toBe("[REDACTED]");
  }
});
