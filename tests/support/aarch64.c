/* Calls functions compiled for AArch64 on memory that arrives on stdin, and answers on stdout. Linux, no C library. */

typedef long word;
typedef void function(void *, void *, void *, void *);

extern function *const functions[]; /* what may be called; aarch64.py writes both tables */
extern void **const memories[];     /* every @memory of the modules, then a null */
extern void *const python[];        /* what they are filled with */
extern const word python_functions;

enum { READ = 63, WRITE = 64, EXIT = 93, MMAP = 222 };

static word ask(word number, word a, word b, word c, word d, word e, word f) {
    register word x8 __asm__("x8") = number;
    register word x0 __asm__("x0") = a;
    register word x1 __asm__("x1") = b;
    register word x2 __asm__("x2") = c;
    register word x3 __asm__("x3") = d;
    register word x4 __asm__("x4") = e;
    register word x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

/* All of it, or 0 at the end of the stream. */
static int transfer(word number, word file, void *data, word size) {
    for (word done = 0; done < size;) {
        word moved = ask(number, file, (word)data + done, size - done, 0, 0, 0);
        if (moved <= 0) return 0;
        done += moved;
    }
    return 1;
}

void *PyMem_RawMalloc(word size) { return (void *)ask(MMAP, 0, size, 3, 0x22, -1, 0); }
void PyMem_RawFree(void *block) { (void)block; }
int PyGILState_Ensure(void) { return 0; }
void *PyErr_NoMemory(void) { return (void *)ask(EXIT, 3, 0, 0, 0, 0, 0); }
void PyGILState_Release(int state) { (void)state; }

struct call {
    word function, size, links; /* links: words of the memory that are offsets and shall be addresses */
    word arguments[4];          /* as offsets */
};

void _start(void) {
    struct call call;
    for (word k = 0; memories[k]; k++)
        for (word j = 0; j < python_functions; j++) memories[k][j] = python[j];
    while (transfer(READ, 0, &call, sizeof call)) {
        char *memory = PyMem_RawMalloc(call.size);
        word *links = PyMem_RawMalloc(8 * call.links + 8), flags = 0;
        if (!transfer(READ, 0, links, 8 * call.links) || !transfer(READ, 0, memory, call.size))
            ask(EXIT, 2, 0, 0, 0, 0, 0);
        for (word k = 0; k < call.links; k++) *(word *)(memory + links[k]) += (word)memory;
        __asm__ volatile("msr fpsr, %0" ::"r"(flags));
        functions[call.function](memory + call.arguments[0], memory + call.arguments[1], memory + call.arguments[2],
                                 memory + call.arguments[3]);
        __asm__ volatile("mrs %0, fpsr" : "=r"(flags));
        if (!transfer(WRITE, 1, &flags, 8) || !transfer(WRITE, 1, memory, call.size)) ask(EXIT, 2, 0, 0, 0, 0, 0);
    }
    ask(EXIT, 0, 0, 0, 0, 0, 0);
}
