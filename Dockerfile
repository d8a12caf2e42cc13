# toolwright in a container: `docker build -t toolwright .`, then as docs/containers.md says.
FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends git bubblewrap && rm -rf /var/lib/apt/lists/*
COPY . /opt/toolwright
RUN pip install --no-cache-dir '/opt/toolwright[all]' && rm -rf /opt/toolwright
USER nobody
WORKDIR /project
ENTRYPOINT ["tw"]
