FROM swift:6.3-bookworm AS build
WORKDIR /backscroll
COPY scripts/install scripts/
RUN --mount=type=tmpfs,target=/var/lib/apt/lists scripts/install
COPY . .
RUN scripts/build-release /usr/local/bin/backscroll
RUN scripts/image-root /image /usr/local/bin/backscroll

# Only the program, its libraries and its directories.
FROM scratch
ARG VERSION=0.2.0
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.title="Backscroll" \
    org.opencontainers.image.description="A realtime chat backend whose history you can scroll both ways" \
    org.opencontainers.image.version="$VERSION" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.source="$SOURCE" \
    org.opencontainers.image.licenses="MIT"
COPY --from=build /image /
ENV PATH=/usr/bin BACKSCROLL_HOST=0.0.0.0 BACKSCROLL_DATABASE=/data/backscroll.db
WORKDIR /data
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=4s --start-period=10s CMD ["backscroll", "healthcheck"]
ENTRYPOINT ["backscroll", "serve"]
