int cuda_answer();

int main() { return cuda_answer() == 13 ? 0 : 1; }
