/** Lines of prose, code, settings and logs in which no secret is, though words of secrets are. One line is one text. */
const TEXT = String.raw`
the password: ask Ana
{"authorization": "granted", "credentials": "pending"}
Ask Ana for the password: she knows it.
Password: ask Ana
The password is kept in the vault.
Please reset your password before Friday.
The token expired, so the run was cancelled.
The token count is 512 and the limit is 4096.
She kept the secret for years.
It is no secret: everyone in the team knows.
A secret between two people is a secret no more.
The secret of a good review is patience.
He forgot his password again; the help desk sent a link.
Use --token to pass a token.
The --password option takes the password of the database.
With --api-key and --name the command needs no file.
Set the password, then log in.
authorization: none
Authorization: required
Authorization is decided by roles and scopes.
The authorization: see chapter four.
Our API key policy: rotate every ninety days.
The api key: ask the platform team
A bearer of good news came in.
The cookie banner: remove it
Cookies: see the privacy page for details.
The keys to success: patience and practice.
The first token of the answer took two seconds.
Tokens per second: 41.5
Cost per token: 0.000002 USD
Max tokens: 4096
Prompt tokens: 812, completion tokens: 211
The parser reads one token at a time.
The lexer emits a token for each word.
Credentials: ask your administrator
No credentials were found in this folder.
The passphrase: four words are enough
Two-factor authentication: turn it on today.
The secret ingredient: a pinch of salt
Secret santa: bring a small gift on Monday
The session token: see section 3.2 of the manual
Passwords must have twelve characters or more.
A password manager is allowed, a spreadsheet is not.
The review says: the token handling is hard to read.
I would rename the variable token to cursor.
Why does the function return a token and not a session?
Nobody but the host may read the secret.
The private key stays on the signing machine.
The public key: print it on the card
The run failed with invalid_token and was retried.
Note to self: change the password on the printer.
We discussed passwords, tokens and keys for an hour.
Please do not send passwords by mail.
The word "password" appears three times in the form.
The field is called token, the label says Code.
Is the secret still valid? Nobody could tell.
As the saying goes: a secret shared is a secret halved.
Total: 5 tokens = 1 word, roughly
The reviewer asked: is the secret rotated?
The answer: yes, every month.
const token = await getToken();
const token = nextToken;
let token = undefined;
let password = null;
const secret = crypto.randomBytes(32);
const apiKey = process.env.API_KEY;
const apiKey = process.env["API_KEY"];
const { token, secret } = await session(user);
if (token === "(") return group();
if (token == null) throw new Error("no token");
if (token !== undefined && token.length > 0) use(token);
while ((token = lexer.next())) parse(token);
return token ? parse(token) : undefined;
function login(user: string, password: string): Session {
export interface Login { readonly user: string; readonly password: string }
  readonly token?: string;
  password: string;
  secret: Secret | undefined;
  token: Token;
  token: nextToken,
  apiKey: config.apiKey,
  password: hash(password),
  token,
this.token = token;
this.#secret = secret;
self.password = password;
self.token = self.read_token()
client = Client(token=self.token)
client = Client(token=get_token(), retries=3)
api_key = os.environ["API_KEY"]
api_key = os.getenv("API_KEY")
password = getpass.getpass()
password = input("Password: ")
token = tokens[i]
token = request.headers.get("X-Token")
token, rest = line.split(" ", 1)
def check(password: str, token: str | None = None) -> bool:
def check(token=None, secret=None):
assert token is not None
for token in tokens: print(token)
tokens = tokenizer.encode(text)
tokenizer.pad_token = tokenizer.eos_token
eos_token="</s>" bos_token="<s>" pad_token="<pad>"
max_tokens=512, temperature=0.2
maxTokens: 1024, topP: 0.9
{"maxTokens":1024,"tokens":17,"tokenCount":3}
{"usage":{"prompt_tokens":12,"completion_tokens":7,"total_tokens":19}}
{"nextPageToken":"CAUQAA","items":[]}
{"continuationToken":"abc","pageToken":"def"}
{"password":null,"token":null,"secret":false}
{"password":"","token":""}
{"password":"string","token":"string"}
{"password":{"type":"string","minLength":12}}
{"required":["password","token"]}
{"type":"object","properties":{"token":{"type":"string"}}}
{"name":"password","label":"Password","required":true}
{"password":"[REDACTED]"}
{"token":"***"}
{"secret":"\${SECRET}","token":"{{ secrets.TOKEN }}"}
<input type="password" name="password" placeholder="Password">
<label for="token">Token</label>
<Login token={token} onChange={setToken} />
<password></password>
public String getPassword() { return password; }
private final String token;
String password = request.getParameter("password");
var token = Request.Query["token"];
token := lexer.Next()
password, ok := os.LookupEnv("PASSWORD")
func (c *Client) SetToken(token string) { c.token = token }
type Login struct { Password string }
let token = self.tokens.next()?;
pub fn token(&self) -> &str { &self.token }
SELECT id, token_count FROM usage WHERE token_count > 5
ALTER TABLE users ADD COLUMN password varchar(255) NOT NULL
CREATE INDEX tokens_by_user ON tokens (user_id)
TOKEN=$(cat /run/secrets/token)
PASSWORD="$PASSWORD" ./deploy.sh
PASSWORD=\${DB_PASSWORD} npm start
export API_KEY=$API_KEY
echo "$TOKEN" | wc -c
read -s -p "Password: " password
docker run -u 1000:1000 image
docker run -p 8080:80 -e TOKEN image
docker login -u ada --password-stdin
mkdir -p build/tokens
ssh -p 2222 host
psql -U app -h db.internal
curl -u "$USER:$PASSWORD" https://example.org
git commit -m "tokens: one more test"
git log --author=ada --since=2026-01-01
npm run test -- --token
kubectl create secret generic app --from-file=./app
kubectl get secrets -n prod
password: \${DB_PASSWORD}
token: "{{ .Values.token }}"
api_key: <your api key>
api-key=<your-key>
password=********
token=xxxxxxxx
secret: |
tokens: 4096
token_limit: 4096
password_policy: strict
secretName: app-secret
secretKeyRef: { name: app, key: password }
token_endpoint: https://login.example.org/token
token_type=bearer
grant_type=password
scope=openid&response_type=token
https://example.org/reset-password?step=2
https://example.org/docs/tokens#password
https://example.org/?q=password&page=2
https://ada@example.org/secrets
GET /v1/tokens/17 HTTP/1.1
WWW-Authenticate: Bearer realm="example"
Access-Control-Allow-Headers: authorization, x-api-key
Vary: Authorization, Cookie
Content-Type: application/json
status=401 error=invalid_token
level=info msg="token refreshed" user=ada
level=warn msg="password attempt failed" attempts=3
2026-11-16T08:13:02Z INFO run-01k9zq4f0s8m2n4p6r8t0v2x4z started
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
commit 9ccf320b8b1f0c0b7a6f5e4d3c2b1a0f9e8d7c6b
id=550e8400-e29b-41d4-a716-446655440000
key=value
primary_key = id
sort_key: created_at
foreign key (user_id) references users (id)
keyboard: de
monkey = banana
compass=north
passes=3 failures=0
pass: true
first_pass = done
bypass = true
passenger: Ada Lovelace
author: Ada
authors = Ada, Bob
secretary: Ana
detoken: no
The step core.fail ended the run with the message: no budget left.
Result: the secretary = Ana, the clerk = Bob
a = b; b = c; c = a
x := y
a => b
(a, b) => a + b
/usr/local/lib/node_modules/assay/dist/formats/secrets/secret-shapes.js
com.example.application.security.PasswordTokenAuthenticationFilter
averyveryverylongidentifierwithoutanymeaningatallbutletters
thisIsACamelCaseIdentifierThatIsQuiteLongAndHarmless
Lorem ipsum dolor sit amet, consectetur adipiscing elit.
1234567890123456789012345678901234567890
apiKey: process.env.API_KEY
password: config.password
cookie: a small text file
Cookie: what a browser keeps for a site
docker run --user app:staff image
docker run --rm -it --user www-data:staff image
podman exec -u node:staff box sh
["--token","--verbose"]
["docker","run","--user","app:staff"]
.option("--token", "print the token")
parser.add_argument("--password", "-p", help="the password")
The options --password, --token and --name are new.
The -token suffix is dropped.
{"name":"token","type":"string","required":true}
{ name: "token", value: token }
{ key: "Authorization", value: "Bearer \${token}" }
<token><kind>x</kind></token>
0x5f3759df and 0xdeadbeefdeadbeefdeadbeefdeadbeef
`;

export const HARMLESS_LINES: readonly string[] = TEXT.trim()
  .split("\n")
  .map((line) => line.replaceAll("\\$", "$"));
