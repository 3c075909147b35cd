FROM swift:6.3-bookworm AS build
WORKDIR /backscroll
COPY scripts/install scripts/
RUN --mount=type=tmpfs,target=/var/lib/apt/lists scripts/install
COPY . .
RUN scripts/build-release /usr/local/bin/backscroll

FROM debian:bookworm-slim
WORKDIR /backscroll
COPY scripts/install scripts/healthcheck scripts/
RUN --mount=type=tmpfs,target=/var/lib/apt/lists scripts/install --runtime --service /data
COPY --from=build /usr/local/bin/backscroll /usr/local/bin/
ENV BACKSCROLL_HOST=0.0.0.0 BACKSCROLL_DATABASE=/data/backscroll.db
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=4s --start-period=10s CMD ["scripts/healthcheck"]
ENTRYPOINT ["backscroll", "serve"]
