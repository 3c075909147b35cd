// A chat server as it is often first written: node's HTTP server and the package ws, in one process. POST /pub/ROOM sends its body
// to every socket of /sub/ROOM. If PGHOST is set, PostgreSQL stores each message first, and GET /pub/ROOM?before=ID returns a page
// of 30.
'use strict';
const fs = require('fs');
const { WebSocketServer } = require('ws');

const rooms = new Map();
const pool = process.env.PGHOST && new (require('pg').Pool)({ max: 20 });

const insert = { name: 'insert', text: 'INSERT INTO messages (room, body) VALUES ($1, $2) RETURNING id' };
const page = {
  name: 'page', text: 'SELECT id, body FROM messages WHERE room = $1 AND id < $2 ORDER BY id DESC LIMIT 30',
};

async function publish(room, body) {
  const stored = pool ? await pool.query({ ...insert, values: [room, body.toString()] }) : null;
  for (const socket of rooms.get(room) ?? []) socket.send(body, { binary: false });
  return JSON.stringify(stored ? stored.rows[0] : {});
}

async function read(room, query) {
  const before = query.get('before') ?? '9223372036854775807';
  const found = await pool.query({ ...page, values: [room, before] });
  return JSON.stringify(found.rows.reverse());
}

function serve(request, response) {
  const url = new URL(request.url, 'http://localhost');
  const room = url.pathname.slice('/pub/'.length);
  const answer = (work) => work.then(
    (text) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(text),
    (error) => response.writeHead(500).end(String(error)));
  if (request.method === 'GET') return answer(read(room, url.searchParams));
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(publish(room, Buffer.concat(chunks))));
}

const server = process.env.TLS_CERT
  ? require('https').createServer(
    { cert: fs.readFileSync(process.env.TLS_CERT), key: fs.readFileSync(process.env.TLS_KEY) }, serve)
  : require('http').createServer(serve);
server.keepAliveTimeout = 3600_000;

const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket, request) => {
  const room = request.url.slice('/sub/'.length);
  if (!rooms.has(room)) rooms.set(room, new Set());
  rooms.get(room).add(socket);
  socket.on('close', () => rooms.get(room).delete(socket));
});

async function start() {
  if (pool) {
    await pool.query('CREATE TABLE IF NOT EXISTS messages '
      + '(room text NOT NULL, id bigserial NOT NULL, body text NOT NULL, PRIMARY KEY (room, id))');
  }
  server.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4096 });
}
start();
